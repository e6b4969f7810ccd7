// Tested by src/plan/policy/evaluate-policy.test.ts.
/** The sentences of a compliance report, in the words of Open Cluster Management. */

/** Why an object is compliant or not; other texts are errors. */
export const REASON = {
  found: 'Resource found as expected',
  created: 'K8s creation success',
  updated: 'K8s update success',
  deleted: 'K8s deletion success',
  absent: 'Resource not found but should exist',
  different: 'Resource found but does not match',
  absentAsExpected: 'Resource not found as expected',
  unwanted: 'Resource found but should not exist',
  cleanUp: 'Error cleaning up child objects',
  template: 'Error processing template',
} as const

interface Sentence {
  readonly reason: string
  readonly text: string
}

/** In the order in which reasons are told. */
const SENTENCES: ReadonlyMap<string, Sentence> = new Map<string, Sentence>([
  [REASON.found, { reason: 'K8s `must have` object already exists', text: 'found as specified' }],
  [REASON.created, { reason: REASON.created, text: 'was created successfully' }],
  [REASON.updated, { reason: REASON.updated, text: 'was updated successfully' }],
  [REASON.deleted, { reason: REASON.deleted, text: 'was deleted successfully' }],
  [REASON.absent, { reason: 'K8s does not have a `must have` object', text: 'not found' }],
  [REASON.different, { reason: 'K8s does not have a `must have` object', text: 'found but not as specified' }],
  [REASON.absentAsExpected, { reason: 'K8s `must not have` object already missing', text: 'missing as expected' }],
  [REASON.unwanted, { reason: 'K8s has a `must not have` object', text: 'found' }],
])

/** What was found of an object. */
export interface ObjectEvent {
  readonly compliant: boolean
  readonly reason: string
  readonly message: string
}

/** An event with the object it is about; a policy without names has several or none. */
export interface PlacedEvent {
  readonly event: ObjectEvent
  readonly namespace: string
  readonly name: string
  readonly names: readonly string[]
}

/** The verdict of an object template. */
export interface TemplateVerdict {
  readonly compliant: boolean
  readonly reason: string
  readonly message: string
}

/** Sums up the events of an object template; a violation hides what is compliant. */
export function verdictOf(resource: string, events: readonly PlacedEvent[]): TemplateVerdict {
  const compliant = events.every(({ event }) => event.compliant)
  const told = events
    .filter(({ event }) => event.compliant === compliant)
    .sort((a, b) => compare(`${a.namespace}/${a.name}`, `${b.namespace}/${b.name}`))
  const byReason = Map.groupBy(told, ({ event }) => event.reason)
  const others = [...byReason.keys()].filter((reason) => !SENTENCES.has(reason)).sort()
  let [reason, message] = ['', '']
  for (const one of [...SENTENCES.keys(), ...others]) {
    const placed = byReason.get(one)
    if (!placed) continue
    const sentence = SENTENCES.get(one)
    const byNames = Map.groupBy(placed, ({ names, name }) => (names.length > 0 ? names.join(', ') : name))
    reason = reason === '' ? (sentence?.reason ?? one) : `${reason}; ${sentence?.reason ?? one}`
    message = sentence
      ? ended(message) + sentencesOf(resource, sentence.text, byNames)
      : [...byNames.keys()].sort().reduce(
          (told, names) =>
            ended(told) +
            byNames
              .get(names)!
              .map(({ event }) => event.message)
              .join('; '),
          message,
        )
  }
  return { compliant, reason, message }
}

function ended(message: string): string {
  return message === '' || message.endsWith('; ') ? message : `${message}; `
}

/** Objects that share their namespaces share a sentence. */
function sentencesOf(resource: string, text: string, byNames: ReadonlyMap<string, readonly PlacedEvent[]>): string {
  const names = new Map<string, string[]>()
  for (const key of [...byNames.keys()].sort()) {
    const namespaces = [...new Set(byNames.get(key)!.map(({ namespace }) => namespace))]
      .filter((one) => one !== '')
      .sort()
    const where =
      namespaces.length === 0
        ? ''
        : ` in ${namespaces.length > 1 ? 'namespaces:' : 'namespace'} ${namespaces.join(', ')}`
    names.set(`${text}${where}`, [...(names.get(`${text}${where}`) ?? []), key])
  }
  return [...names.keys()]
    .sort()
    .map((sentence) => {
      const joined = names.get(sentence)!.sort().join(', ')
      return `${resource}${joined === '' ? '' : ` [${joined}]`} ${sentence}`
    })
    .join('; ')
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** `[a] in namespace b`, for messages about an object. */
export function identifier(name: string, namespace: string): string {
  return `[${name}]${namespace === '' ? '' : ` in namespace ${namespace}`}`
}
