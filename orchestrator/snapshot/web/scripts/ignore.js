// Leaves out the parts of the page that a comparison ignores.
let ignored = null;

const isIgnored = (element) => ignored !== null && ignored.has(element);

/** All matches of these locators; one without a match, or in a frame of another origin, adds none. */
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

/** The answer of `read` without the matches of `locators` and their content. */
function ignoring(locators, read) {
  if (!locators?.length) return read();
  ignored = new Set(elementsAt(locators));
  try {
    return read();
  } finally {
    ignored = null;
  }
}

/** boxes({locators}): the visible part of each match. */
function boxes({ locators }) {
  const parts = elementsAt(locators).map((element) => shownPart(element));
  return { boxes: parts.filter(hasArea), ...describePage() };
}
