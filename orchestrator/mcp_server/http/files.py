"""The path `/files`: a client sends files, lists and removes them.

Calls name them as `file:ID`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from orchestrator.errors import FileQuota, InvalidArgument
from orchestrator.mcp_server.http import refusals
from orchestrator.mcp_server.http.refusals import HttpRefusal
from orchestrator.system.host.client_files import ClientFile, ClientFiles

FILES_PATH = "/files"
_CREATED, _NO_CONTENT = 201, 204
_FORMS = ("multipart/", "application/x-www-form-urlencoded")


async def answer_files(request: Request, files: ClientFiles) -> Response:
    """Answer a request for the files of a client.

    Raises:
        HttpRefusal: It cannot be done.
    """
    reference = request.url.path.removeprefix(FILES_PATH).strip("/")
    try:
        if not reference and request.method == "POST":
            return await _receive(request, files)
        if not reference and request.method == "GET":
            found = await anyio.to_thread.run_sync(files.list_files)
            return JSONResponse({"files": [_describe(file) for file in found]})
        if reference and request.method == "DELETE":
            return await _remove(reference, files)
    except FileQuota as error:
        raise HttpRefusal(413, "quota", error.message, error.hint or "") from None
    except InvalidArgument as error:
        raise HttpRefusal(400, error.code, error.message, error.hint or "") from None
    raise refusals.wrong_method("DELETE" if reference else "GET, POST")


async def _receive(request: Request, files: ClientFiles) -> Response:
    """Keep the body as a file of the name in the query."""
    if request.headers.get("content-type", "").lower().startswith(_FORMS):
        raise refusals.form_sent()
    with files.receiving(request.query_params.get("name", "")) as draft:
        async for part in request.stream():
            await anyio.to_thread.run_sync(draft.write, part)
    sent = await anyio.to_thread.run_sync(files.find, draft.reference)
    return JSONResponse(_describe(sent), _CREATED)


async def _remove(reference: str, files: ClientFiles) -> Response:
    try:
        await anyio.to_thread.run_sync(files.remove, reference)
    except InvalidArgument as error:
        raise HttpRefusal(404, "not_found", error.message, "GET /files lists those that are there.") from None
    return Response(status_code=_NO_CONTENT)


def _describe(file: ClientFile) -> dict[str, Any]:
    expires = datetime.fromtimestamp(file.expires_at, UTC).isoformat(timespec="seconds")
    return {"id": file.reference, "name": file.path.name, "size": file.size, "expiresAt": expires}
