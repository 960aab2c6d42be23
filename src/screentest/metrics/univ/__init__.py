"""UniV-Eval: structured descriptions of video, and checklists for six tasks."""
