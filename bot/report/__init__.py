"""Journal and index -> what the docs team and operators look up."""

from bot.report.figures import Asked, Complaint, Day, Gap, Report, StalePage, percentile

__all__ = ["Asked", "Complaint", "Day", "Gap", "Report", "StalePage", "percentile"]
