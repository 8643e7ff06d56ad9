"""The shop demonstration: a small shop as a web page, an iOS app and an Android app."""

from orchestrator.demo.shop.bundle import Platform as Platform
from orchestrator.demo.shop.bundle import bundle as bundle
from orchestrator.demo.shop.bundle import web as web
