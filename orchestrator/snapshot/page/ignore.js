// Leaves parts of the page out of what is read: what a comparison is told to ignore.
let ignored = null;

const isIgnored = (element) => ignored !== null && ignored.has(element);

/** All that these locators match; one that matches nothing here, or in a frame of another origin, leaves nothing out. */
function elementsAt(locators) {
  return locators.flatMap((locator) => {
    try {
      return locate(locator);
    } catch (error) {
      if (error instanceof Elsewhere || error.answer?.reason === 'not_found') return [];
      throw error;
    }
  });
}

/** What `read` answers when the matches of `locators` and what is inside them are not there. */
function ignoring(locators, read) {
  if (!locators?.length) return read();
  ignored = new Set(elementsAt(locators));
  try {
    return read();
  } finally {
    ignored = null;
  }
}

/** boxes({locators}): the part of each match that can be seen in the viewport. */
function boxes({ locators }) {
  const parts = elementsAt(locators).map((element) => shownPart(element));
  return { boxes: parts.filter(hasArea), ...describePage() };
}
