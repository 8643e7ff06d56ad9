"""The chat demonstration: a small real application for two browsers."""

from orchestrator.demo.chat.server import ChatServer as ChatServer
