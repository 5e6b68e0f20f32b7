"""Working doubles for the borders: the Messages API and the model."""
