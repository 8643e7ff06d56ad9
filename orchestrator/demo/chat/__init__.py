"""A small real chat application, so that there is something true for two browsers to do together."""

from orchestrator.demo.chat.server import ChatServer as ChatServer
