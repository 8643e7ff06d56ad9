"""Who is there, and whose turn it is."""

from orchestrator.sessions.book import Book as Book
from orchestrator.sessions.callers import this_process as this_process
from orchestrator.sessions.lanes import Lanes as Lanes
from orchestrator.sessions.turn import Stopped as Stopped
from orchestrator.sessions.turn import Turn as Turn
