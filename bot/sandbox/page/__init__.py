"""The workspace -> the page in the browser, and what a person does there."""
