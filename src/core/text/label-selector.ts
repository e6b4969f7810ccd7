/** Label selectors: the object form of specs and the text form of queries. */
import { ApiError } from '../errors.ts'

/** A requirement of a selector. */
export interface LabelRequirement {
  readonly key: string
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
  readonly values?: readonly string[]
}

/** A label selector as Kubernetes objects hold it. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly LabelRequirement[]
}

/** Labels of an object. */
export type Labels = Readonly<Record<string, string>>

/** The flat list of requirements a selector stands for; all must hold. */
export function requirementsOf(selector: LabelSelector): LabelRequirement[] {
  const equalities = Object.entries(selector.matchLabels ?? {}).map(([key, value]): LabelRequirement => ({
    key,
    operator: 'In',
    values: [value],
  }))
  return [...equalities, ...(selector.matchExpressions ?? [])]
}

/** Whether labels meet one requirement. An absent key meets NotIn, as in Kubernetes. */
export function meetsRequirement(labels: Labels, requirement: LabelRequirement): boolean {
  const has = Object.hasOwn(labels, requirement.key)
  const value = has ? labels[requirement.key] : undefined
  switch (requirement.operator) {
    case 'In':
      return value !== undefined && (requirement.values ?? []).includes(value)
    case 'NotIn':
      return value === undefined || !(requirement.values ?? []).includes(value)
    case 'Exists':
      return has
    case 'DoesNotExist':
      return !has
  }
}

/** Whether labels meet a whole selector; the empty selector selects everything. */
export function matchesSelector(labels: Labels, selector: LabelSelector): boolean {
  return requirementsOf(selector).every((requirement) => meetsRequirement(labels, requirement))
}

/** A selector in the text form, its terms in the order of their keys; empty when it selects everything. */
export function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const terms = [
    ...Object.entries(matchLabels).map(([key, value]) => ({ key, term: `${key}=${value}` })),
    ...matchExpressions.map((requirement) => ({ key: requirement.key, term: termOf(requirement) })),
  ]
  return terms
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ term }) => term)
    .join(',')
}

function termOf({ key, operator, values = [] }: LabelRequirement): string {
  if (operator === 'Exists') return key
  if (operator === 'DoesNotExist') return `!${key}`
  return `${key} ${operator === 'In' ? 'in' : 'notin'} (${[...values].sort().join(',')})`
}

const TERM =
  /^\s*(?:(!)\s*([^\s=!,()]+)|([^\s=!,()]+)\s+(in|notin)\s*\(([^)]*)\)|([^\s=!,]+)\s*(==|=|!=)\s*([^\s,=!]*)|([^\s=!,]+))\s*$/

/** Parses the text form: `a=b,c!=d,e in (x,y),f,!g`. A bad one is a 400 that shows the term. */
export function parseSelector(text: string): LabelRequirement[] {
  return splitTerms(text).map((term): LabelRequirement => {
    const match = TERM.exec(term)
    if (!match) {
      throw new ApiError(
        'BadRequest',
        `unable to parse requirement ${JSON.stringify(term)}: want key=value, key!=value, key in (a,b), key or !key`,
      )
    }
    const [, not, notKey, setKey, setOperator, setValues, key, operator, value, existsKey] = match
    if (not) return { key: notKey!, operator: 'DoesNotExist' }
    if (setKey) {
      return {
        key: setKey,
        operator: setOperator === 'in' ? 'In' : 'NotIn',
        values: setValues!.split(',').map((item) => item.trim()),
      }
    }
    if (key) return { key, operator: operator === '!=' ? 'NotIn' : 'In', values: [value!] }
    return { key: existsKey!, operator: 'Exists' }
  })
}

function splitTerms(text: string): string[] {
  const terms = text.match(/(?:[^,(]|\([^)]*\))+/g) ?? []
  return terms.filter((term) => term.trim() !== '')
}
