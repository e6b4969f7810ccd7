/**
 * Placeholders for values of the cluster in the template of an ApplicationSet, like `{{name}}`: they stay as marks
 * while the template is filled, and become `${ }` where a Bundle supports that.
 */

const OPEN = '\uE000'
const CLOSE = '\uE001'
const MARK = new RegExp(`${OPEN}([^${CLOSE}]*)${CLOSE}`, 'g')

/** A mark for a value of the cluster: `name`, `server`, `labels/KEY` or `annotations/KEY`. */
export function placeholderFor(word: string): string {
  return `${OPEN}${word}${CLOSE}`
}

/** Whether a text has a mark. */
export function hasPlaceholders(text: string): boolean {
  return text.includes(OPEN)
}

/** The text with the placeholders of the template, for messages. */
export function restorePlaceholders(text: string): string {
  return text.replaceAll(MARK, (_all, word: string) => `{{${word.replace(/^(labels|annotations)\//, 'metadata.$1.')}}}`)
}

/** The mark, if the text consists of a mark. */
export function solePlaceholder(text: string): string | undefined {
  const [whole, word] = new RegExp(MARK.source).exec(text) ?? []
  return whole === text ? word : undefined
}

/** The text without marks and separators: `{{name}}-guestbook` is `guestbook`. */
export function removePlaceholders(text: string): string {
  return text
    .replaceAll(MARK, '')
    .replaceAll(/[-._]{2,}/g, '-')
    .replaceAll(/^[-._]+|[-._]+$/g, '')
}

/** The text with marks as templates of Helm values; other text that looks like a template is quoted. */
export function asValueTemplate(text: string): string {
  return text.replaceAll('${', () => '$${').replaceAll(MARK, (_all, word: string) => `\${ ${expressionOf(word)} }`)
}

function expressionOf(word: string): string {
  if (word === 'name') return '.ClusterName'
  const slash = word.indexOf('/')
  const map = word.startsWith('labels/') ? '.ClusterLabels' : '.ClusterAnnotations'
  const key = word.slice(slash + 1)
  return /^[A-Za-z_]\w*$/.test(key) ? `${map}.${key}` : `index ${map} ${JSON.stringify(key)}`
}
