// The chat's settings: two users of one network.
"use strict";

module.exports = {
  host: "127.0.0.1",
  port: Number(process.env.CHAT_PORT),
  public: false,
  theme: "example",
  prefetch: false,
  displayNetwork: true,
  lockNetwork: false,
  logs: {},
  maxHistory: 1000,
  defaults: {},
  transports: ["polling", "websocket"],
};
