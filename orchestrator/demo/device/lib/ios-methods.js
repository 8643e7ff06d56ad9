'use strict';

/** The mobile: methods of the simulated XCUITest driver: names and arguments as the real driver documents them. */

const method = (command, required = [], optional = []) => ({command, params: {required, optional}});

const METHODS = {
  'mobile: activateApp': method('activateApp', ['bundleId']),
  'mobile: activeAppInfo': method('mobileActiveAppInfo'),
  'mobile: alert': method('mobileAlert', ['action'], ['buttonLabel']),
  'mobile: backgroundApp': method('background', [], ['seconds']),
  'mobile: batteryInfo': method('mobileBatteryInfo'),
  'mobile: deepLink': method('mobileDeepLink', ['url'], ['bundleId']),
  'mobile: deviceInfo': method('mobileDeviceInfo'),
  'mobile: deviceScreenInfo': method('mobileScreenInfo'),
  'mobile: doubleTap': method('mobileDoubleTap', [], ['elementId', 'x', 'y']),
  'mobile: dragFromToForDuration': method('mobileDrag', ['duration', 'fromX', 'fromY', 'toX', 'toY'], ['elementId']),
  'mobile: getClipboard': method('getClipboard', [], ['contentType']),
  'mobile: getContexts': method('mobileGetContexts'),
  'mobile: getDeviceTime': method('deviceTime'),
  'mobile: getSimulatedLocation': method('getGeoLocation'),
  'mobile: hideKeyboard': method('hideKeyboard'),
  'mobile: installApp': method('installApp', ['app']),
  'mobile: isAppInstalled': method('isAppInstalled', ['bundleId']),
  'mobile: isKeyboardShown': method('isKeyboardShown'),
  'mobile: isLocked': method('isLocked'),
  'mobile: killApp': method('terminateApp', ['bundleId']),
  'mobile: launchApp': method('mobileLaunchApp', ['bundleId'], ['arguments', 'environment']),
  'mobile: listApps': method('mobileListApps', [], ['applicationType']),
  'mobile: lock': method('lock', [], ['seconds']),
  'mobile: pinch': method('mobilePinch', ['scale', 'velocity'], ['elementId']),
  'mobile: pressButton': method('mobilePressButton', ['name']),
  'mobile: queryAppState': method('queryAppState', ['bundleId']),
  'mobile: removeApp': method('removeApp', ['bundleId']),
  'mobile: resetSimulatedLocation': method('resetGeoLocation'),
  'mobile: scroll': method('mobileScroll', [], ['direction', 'elementId', 'distance', 'name', 'predicateString', 'toVisible']),
  'mobile: scrollToElement': method('mobileScrollToElement', ['elementId']),
  'mobile: setClipboard': method('setClipboard', ['content'], ['contentType']),
  'mobile: setSimulatedLocation': method('mobileSetLocation', ['latitude', 'longitude']),
  'mobile: shake': method('mobileShake'),
  'mobile: source': method('mobileSource', [], ['format']),
  'mobile: swipe': method('mobileSwipe', ['direction'], ['velocity', 'elementId']),
  'mobile: tap': method('mobileTap', ['x', 'y'], ['elementId']),
  'mobile: tapWithNumberOfTaps': method('mobileTapWithNumberOfTaps', ['numberOfTaps'], ['numberOfTouches', 'elementId']),
  'mobile: terminateApp': method('terminateApp', ['bundleId']),
  'mobile: touchAndHold': method('mobileTouchAndHold', ['duration'], ['x', 'y', 'elementId']),
  'mobile: unlock': method('unlock'),
  'mobile: viewportRect': method('getWindowRect'),
  'mobile: viewportScreenshot': method('getScreenshot'),
};

module.exports = {METHODS};
