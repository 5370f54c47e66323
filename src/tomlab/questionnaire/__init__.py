"""Questionnaires for people: one HTML file for each participant, made from items.

`python -m tomlab.questionnaire` makes the files, and joins the answers in one table; see
docs/questionnaire.md. The page is `questionnaire.html`: it needs no server, loads nothing from
elsewhere and gives the participant a CSV of the answers to send back.
"""
