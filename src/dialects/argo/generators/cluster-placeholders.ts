/**
 * What an ApplicationSet says of each cluster, kept apart from what it says of all: while a template is filled in, words such as
 * `{{name}}` stand as marks, and where a Bundle can say them they become `${ }`.
 */

const OPEN = '\uE000'
const CLOSE = '\uE001'
const MARK = new RegExp(`${OPEN}([^${CLOSE}]*)${CLOSE}`, 'g')

/** A mark for something of the cluster: `name`, `server`, `labels/KEY` or `annotations/KEY`. */
export function placeholderFor(word: string): string {
  return `${OPEN}${word}${CLOSE}`
}

/** Whether a text has anything of the cluster in it. */
export function hasPlaceholders(text: string): boolean {
  return text.includes(OPEN)
}

/** The text as the person wrote it, for messages. */
export function restorePlaceholders(text: string): string {
  return text.replaceAll(MARK, (_all, word: string) => `{{${word.replace(/^(labels|annotations)\//, 'metadata.$1.')}}}`)
}

/** The one word that the text consists of. */
export function solePlaceholder(text: string): string | undefined {
  const [whole, word] = new RegExp(MARK.source).exec(text) ?? []
  return whole === text ? word : undefined
}

/** The text without marks and what joined them: `{{name}}-guestbook` is `guestbook`. */
export function removePlaceholders(text: string): string {
  return text
    .replaceAll(MARK, '')
    .replaceAll(/[-._]{2,}/g, '-')
    .replaceAll(/^[-._]+|[-._]+$/g, '')
}

/** The text with marks as templates of Helm values; what looks like one and is none is quoted. */
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
