"""The report: what a bench and a training run left behind, as one page that says what may be said and no more.

    folders ──reading──▶ Found ──sections──▶ tables, figures, sentences ──page──▶ one HTML file, and each table as CSV and JSON beside it

Nothing is played and nothing is looked up: the same folders give the same bytes.
"""
