'use strict';

/** The mobile: methods of the simulated UiAutomator2 driver: names and arguments as the real driver documents them. */

const method = (command, required = [], optional = []) => ({command, params: {required, optional}});
const AREA = ['elementId', 'left', 'top', 'width', 'height', 'speed'];

const METHODS = {
  'mobile: acceptAlert': method('mobileAcceptAlert', [], ['buttonLabel']),
  'mobile: activateApp': method('activateApp', ['appId']),
  'mobile: backgroundApp': method('background', [], ['seconds']),
  'mobile: batteryInfo': method('mobileBatteryInfo'),
  'mobile: clearApp': method('mobileClearApp', ['appId']),
  'mobile: clickGesture': method('mobileClickGesture', [], ['elementId', 'x', 'y']),
  'mobile: deepLink': method('mobileDeepLink', ['url'], ['package']),
  'mobile: deviceInfo': method('mobileDeviceInfo'),
  'mobile: dismissAlert': method('mobileDismissAlert', [], ['buttonLabel']),
  'mobile: doubleClickGesture': method('mobileDoubleClickGesture', [], ['elementId', 'x', 'y']),
  'mobile: dragGesture': method('mobileDragGesture', ['endX', 'endY'], ['elementId', 'startX', 'startY', 'speed']),
  'mobile: flingGesture': method('mobileFlingGesture', ['direction'], AREA),
  'mobile: getClipboard': method('getClipboard', [], ['contentType']),
  'mobile: getCurrentActivity': method('getCurrentActivity'),
  'mobile: getCurrentPackage': method('getCurrentPackage'),
  'mobile: getDeviceTime': method('deviceTime'),
  'mobile: getDisplayDensity': method('getDisplayDensity'),
  'mobile: getGeolocation': method('getGeoLocation'),
  'mobile: hideKeyboard': method('hideKeyboard'),
  'mobile: installApp': method('installApp', ['appPath']),
  'mobile: isAppInstalled': method('isAppInstalled', ['appId']),
  'mobile: isKeyboardShown': method('isKeyboardShown'),
  'mobile: isLocked': method('isLocked'),
  'mobile: listApps': method('mobileListApps'),
  'mobile: lock': method('lock', [], ['seconds']),
  'mobile: longClickGesture': method('mobileLongClickGesture', [], ['elementId', 'x', 'y', 'duration']),
  'mobile: pinchCloseGesture': method('mobilePinchCloseGesture', ['percent'], AREA),
  'mobile: pinchOpenGesture': method('mobilePinchOpenGesture', ['percent'], AREA),
  'mobile: pressKey': method('mobilePressKey', ['keycode']),
  'mobile: queryAppState': method('queryAppState', ['appId']),
  'mobile: removeApp': method('removeApp', ['appId']),
  'mobile: replaceElementValue': method('mobileReplaceElementValue', ['elementId', 'text']),
  'mobile: resetGeolocation': method('resetGeoLocation'),
  'mobile: scroll': method('mobileScroll', ['strategy', 'selector'], ['elementId', 'maxSwipes']),
  'mobile: scrollGesture': method('mobileScrollGesture', ['direction', 'percent'], AREA),
  'mobile: setClipboard': method('setClipboard', ['content'], ['contentType']),
  'mobile: setGeolocation': method('mobileSetLocation', ['latitude', 'longitude'], ['altitude']),
  'mobile: startActivity': method('mobileStartActivity', [], ['intent', 'component']),
  'mobile: swipeGesture': method('mobileSwipeGesture', ['direction', 'percent'], AREA),
  'mobile: terminateApp': method('terminateApp', ['appId'], ['timeout']),
  'mobile: type': method('mobileType', ['text']),
  'mobile: unlock': method('unlock'),
  'mobile: viewportRect': method('mobileViewportRect'),
  'mobile: viewportScreenshot': method('getScreenshot'),
};

module.exports = {METHODS};
