// Tested by src/dialects/ocm/policy/recorded.contract.test.ts.
/** What the dry run of a policy prints. */
import { goTypeName, goValue, isGoObject, sortedKeys, sprint } from '../../../plan/policy/go-value.ts'
import type { GoObject, GoValue } from '../../../plan/policy/go-value.ts'
import type { PolicyStatus } from '../../../plan/policy/configuration-policy.ts'

/** Colours a text, or leaves it as it is. */
export interface Painter {
  readonly good: (text: string) => string
  readonly bad: (text: string) => string
  readonly warn: (text: string) => string
  readonly bold: (text: string) => string
}

const paint = (code: number) => (text: string) => `\u001b[${code}m${text}\u001b[0m`
const leave = (text: string): string => text

/** The colours of the original. */
export function painter(colors: boolean): Painter {
  if (!colors) return { good: leave, bad: leave, warn: leave, bold: leave }
  return { good: paint(32), bad: paint(31), warn: paint(33), bold: paint(1) }
}

/** The differences of the related objects. */
export function printDiffs({ relatedObjects = [] }: PolicyStatus, paints: Painter): string {
  const lines = relatedObjects.map(({ object, properties }) => {
    const { name, namespace } = object.metadata
    const shown = namespace === undefined ? name : `${namespace}/${name}`
    const diff = paintDiff(properties?.diff ?? '', paints).replace(/\n$/, '')
    return `${object.apiVersion} ${object.kind} ${shown}:\n${diff}\n`
  })
  return `# Diffs:\n${lines.join('')}`
}

function paintDiff(diff: string, { good, bad }: Painter): string {
  return diff
    .split('\n')
    .map((line) => {
      if (line.startsWith('-') && !line.startsWith('---')) return bad(line)
      return line.startsWith('+') && !line.startsWith('+++') ? good(line) : line
    })
    .join('\n')
}

/** Whether the status is as wanted, with each field that was compared. */
export function printComparison(wanted: GoObject, status: PolicyStatus, paints: Painter): string {
  const lines: string[] = []
  const comparison = new StatusComparison(lines, paints)
  const isSame = comparison.mapping(wanted, goValue(status) as GoObject, '')
  const verdict = isSame
    ? paints.good(paints.bold(' Expected status matches the actual status'))
    : paints.bad(paints.bold(' Expected status does not match the actual status'))
  return `# Status compare:\n${[...lines, verdict].map((line) => `${line}\n`).join('')}`
}

/** A wanted list without items, which the original cannot compare. */
export class EmptyListError extends Error {
  constructor(path: string) {
    super(`the list ${path} of the desired status is empty: remove it or give it items`)
  }
}

/** Fields of list items are compared and not told. */
const WITHIN_ITEM = /\.\w+\[\d+\]\.\w/

class StatusComparison {
  readonly #lines: string[]
  readonly #paints: Painter

  constructor(lines: string[], paints: Painter) {
    this.#lines = lines
    this.#paints = paints
  }

  mapping(wanted: GoObject, actual: GoObject, parent: string): boolean {
    let isSame = true
    for (const key of sortedKeys(wanted)) {
      const path = `${parent}.${key}`
      if (!Object.hasOwn(actual, key)) {
        this.#tell(parent, this.#paints.bad(`Key '${key}' not found in result at path '${parent}'`))
        isSame = false
      } else if (!this.#field(wanted[key]!, actual[key]!, { path, key })) isSame = false
    }
    return isSame
  }

  #field(wanted: GoValue, actual: GoValue, { path, key }: { readonly path: string; readonly key: string }): boolean {
    if (Array.isArray(wanted)) {
      if (Array.isArray(actual)) return this.#list(wanted, actual, path)
      this.#lines.push(this.#paints.warn(`skip ${key}, ${path} is not array,`))
      return false
    }
    if (isGoObject(wanted)) {
      if (isGoObject(actual)) return this.mapping(wanted, actual, path)
      this.#mismatch(path, actual)
      return false
    }
    if (wanted === null) {
      this.#mismatch(path, actual)
      return true
    }
    return this.#scalar(sprint(wanted), sprint(actual), path)
  }

  #list(wanted: readonly GoValue[], actual: readonly GoValue[], path: string): boolean {
    if (wanted.length === 0) throw new EmptyListError(path)
    if (!isGoObject(wanted[0])) {
      return this.#scalar(sprint([...wanted]), sprint([...actual]), path)
    }
    for (const [at, item] of wanted.entries()) {
      const place = `${path}[${at}]`
      const isFound = isGoObject(item) && actual.some((one) => isGoObject(one) && this.mapping(item, one, place))
      if (!isFound) {
        this.#tell(place, this.#paints.bad(`${place} does not match any elements`))
        this.#tell(path, this.#paints.bad(`${path} does not match the elements`))
        return false
      }
      this.#tell(place, this.#paints.good(`${place} matches`))
    }
    this.#tell(path, this.#paints.good(`${path} matches`))
    return true
  }

  #scalar(wanted: string, actual: string, path: string): boolean {
    const isSame = wanted === actual
    this.#tell(
      path,
      isSame
        ? this.#paints.good(`${path}: '${wanted}' does match '${actual}'`)
        : this.#paints.bad(`${path}: '${wanted}' does not match '${actual}'`),
    )
    return isSame
  }

  #mismatch(path: string, actual: GoValue): void {
    const type = goTypeName(actual)
    this.#lines.push(this.#paints.bad(`The input status field '${path}' is not the right type - expected '${type}'`))
  }

  #tell(path: string, line: string): void {
    if (!WITHIN_ITEM.test(path)) this.#lines.push(line)
  }
}
