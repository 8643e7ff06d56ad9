// Checks a document with axe-core, whose rules answer with elements; these become lines and refs.

/** The element to which an audit is limited; the engines of same-origin frames ask for it at the head of the cluster. */
const auditing = { root: null };

/** Rules about a page as a whole: a frame is a part of one. */
const OF_PAGES = wordSet(`aria-hidden-body bypass document-title html-has-lang landmark-one-main meta-viewport
  meta-viewport-large page-has-heading-one region`);

/** Elements of a document from which on measuring the contrast of all of them would keep the page busy for too long. */
const MOST_CONTRASTED = 15_000;

/**
 * audit({locator?}): the way to the document of the first match, which is kept for the check, and to each visible frame
 * in it, all as seen from here.
 */
function audit({ locator }) {
  const found = locator ? mustFind(locator) : [];
  const [root] = found;
  auditing.root = root ?? null;
  const inside = everywhere(root ?? window.document, 'iframe,frame');
  if (root && isFrame(root)) inside.unshift(root);
  const frames = inside.filter((element) => isFrame(element) && isVisible(element)).map((element) => (
    { path: pathTo(element), ref: refOf(element), line: lineFor(element), closed: !innerDocument(element) }));
  return { ...describePage(), matches: found.length, path: root ? homePath(root) : [], frames };
}

/** The rules or tags that were asked for and do not exist, and those that do. */
function unknownIn(axe, { tags, rules }) {
  const all = axe.getRules();
  const known = new Set(tags.length ? all.flatMap((rule) => rule.tags) : all.map((rule) => rule.ruleId));
  const unknown = [...tags, ...rules].find((name) => !known.has(name));
  return unknown === undefined ? null : { unknown, known: [...known].sort() };
}

/** What axe-core finds wrong in this document, or in the part of it that is to be checked. */
async function violationsBy(axe, { tags, rules }, root) {
  // As this world sees it: of another window's engine Firefox gives the page's own view of an element.
  const part = root !== null && dom.document(root) === window.document ? dom.closest(root, '*') : window.document;
  const skipped = !rules.length && queryAll(part, '*').length > MOST_CONTRASTED ? ['color-contrast'] : [];
  // Whether frames were checked is ours to know.
  const apart = ['frame-tested', ...skipped, ...(window === window.top ? [] : OF_PAGES)];
  const named = rules.filter((rule) => !apart.includes(rule));
  const nothing = { violations: [], passes: [], incomplete: [], testEngine: { version: axe.version } };
  if (rules.length && !named.length) return { ...nothing, skipped };
  const runOnly = rules.length ? { type: 'rule', values: named } : tags.length ? { type: 'tag', values: tags } : undefined;
  const found = await axe.run(part, {
    ...(runOnly ? { runOnly } : {}),
    ...(rules.length ? {} : { rules: Object.fromEntries(apart.map((id) => [id, { enabled: false }])) }),
    elementRef: true, iframes: false, preload: false, selectors: false, resultTypes: ['violations'],
  });
  return { ...found, skipped };
}

/** The rules that were broken, each with the first elements; those that were kept, and those that a human has to judge. */
function auditedFacts({ violations, passes, incomplete, testEngine, skipped }, most) {
  const rulesOf = (results) => results.filter(({ nodes }) => nodes.length).map(({ id }) => id);
  return {
    version: testEngine.version, passed: rulesOf(passes), incomplete: rulesOf(incomplete), skipped,
    violations: violations.map(({ id, impact, help, helpUrl, nodes }) => ({
      rule: id, impact: impact ?? 'minor', help: shown(help), helpUrl, total: nodes.length,
      elements: nodes.slice(0, most).map(auditedElement),
    })),
  };
}

function auditedElement({ element, any, all, none }) {
  const [first] = [...none, ...all, ...any];
  return { ref: refOf(element), line: lineFor(element), problem: shown(first?.message ?? '') };
}
