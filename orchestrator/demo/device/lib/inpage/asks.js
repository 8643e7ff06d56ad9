'use strict';

/** Runs in an app's own world: what needs a permission asks the device first, by `__simAsk`, and waits for the answer. */

(() => {
  const ask = globalThis.__simAsk;
  if (!ask) return;
  const waiting = new Map();
  let last = 0;
  const permitted = (permission) => new Promise((resolve) => {
    last += 1;
    waiting.set(last, resolve);
    ask(JSON.stringify({permission, id: last}));
  });
  Object.defineProperty(globalThis, '__simAnswer', {
    value: (id, granted) => {
      waiting.get(id)?.(granted);
      waiting.delete(id);
    },
  });

  const denied = {code: 1, message: 'User denied Geolocation', PERMISSION_DENIED: 1, POSITION_UNAVAILABLE: 2, TIMEOUT: 3};
  const place = Object.getPrototypeOf(navigator.geolocation ?? {});
  if (place.getCurrentPosition) {
    const {getCurrentPosition, watchPosition} = place;
    place.getCurrentPosition = function (success, failure, options) {
      permitted('location').then((granted) => {
        if (granted) getCurrentPosition.call(this, success, failure, options);
        else failure?.(denied);
      });
    };
    place.watchPosition = function (success, failure, options) {
      permitted('location').then((granted) => {
        if (granted) watchPosition.call(this, success, failure, options);
        else failure?.(denied);
      });
      return 1;
    };
  }
  if (globalThis.Notification) {
    Notification.requestPermission = async () => ((await permitted('notifications')) ? 'granted' : 'denied');
  }
  if (navigator.mediaDevices) {
    const media = Object.getPrototypeOf(navigator.mediaDevices);
    const {getUserMedia} = media;
    media.getUserMedia = async function (constraints) {
      if (await permitted(constraints?.video ? 'camera' : 'microphone')) return getUserMedia.call(this, constraints);
      throw new DOMException('Permission denied', 'NotAllowedError');
    };
  }
})();
