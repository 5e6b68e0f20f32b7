"""Journal and index -> reports, traces and replays for the docs team and operators."""

from bot.report.figures import AskedQuestion, Complaint, Day, Gap, Report, StalePage, percentile

__all__ = ["AskedQuestion", "Complaint", "Day", "Gap", "Report", "StalePage", "percentile"]
