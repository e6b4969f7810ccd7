/**
 * The filter of the list, as text in the address: words separated by blanks, all of which must match.
 *
 *     store-1            the name, the message or a label has this text
 *     state:failed       the state is one of a list; `state:!ready` excludes
 *     region:eu,us       the label `region` has one of these values
 *     badge:held  version:1.33  waits:rollout
 */
import type { FleetRow } from '../../../src/hub/console/fleet-row.ts'

export type Predicate = (row: FleetRow) => boolean

/** Reads a filter. Each text is one; a word that matches no cluster shows none. */
export function parseFilter(text: string): Predicate {
  const tests = text
    .split(/\s+/)
    .filter((word) => word !== '')
    .map(testOf)
  return (row) => tests.every((test) => test(row))
}

/** Fields of the filter that are no labels. */
const FIELDS: ReadonlySet<string> = new Set(['state', 'badge', 'version', 'waits'])

/** The words of a filter that are about labels, as a selector of labels: `region:eu,us` is `region in (eu,us)`. */
export function labelSelectorOf(text: string): string {
  return text
    .split(/\s+/)
    .flatMap((word) => {
      const [, key, isExcluded, list = ''] = /^([^:=]+)[:=](!?)(.+)$/.exec(word) ?? []
      const values = list.split(',').filter((value) => value !== '')
      if (key === undefined || FIELDS.has(key.toLowerCase()) || values.length === 0) return []
      if (values.length === 1) return [`${key}${isExcluded ? '!=' : '='}${values[0]}`]
      return [`${key} ${isExcluded ? 'notin' : 'in'} (${values.join(',')})`]
    })
    .join(',')
}

function testOf(word: string): Predicate {
  const at = word.search(/[:=]/)
  if (at <= 0) return containing(word)
  const field = word.slice(0, at)
  const isExcluded = word[at + 1] === '!'
  const values = word
    .slice(at + (isExcluded ? 2 : 1))
    .split(',')
    .filter((value) => value !== '')
    .map((value) => value.toLowerCase())
  if (values.length === 0) return () => true
  const matches = fieldTest(field, values)
  return isExcluded ? (row) => !matches(row) : matches
}

function fieldTest(field: string, values: readonly string[]): Predicate {
  switch (field.toLowerCase()) {
    case 'state':
      return ({ state }) => values.includes(state.toLowerCase())
    case 'badge':
      return ({ badges }) => badges.split(',').some((badge) => values.includes(badge.toLowerCase()))
    case 'version':
      return ({ version }) => values.some((value) => version.replace(/^v/, '').startsWith(value.replace(/^v/, '')))
    case 'waits':
      return ({ waitsFor }) => values.includes(waitsFor.toLowerCase())
    default:
      return ({ labels }) => Object.hasOwn(labels, field) && values.includes(labels[field]!.toLowerCase())
  }
}

function containing(word: string): Predicate {
  const isExcluded = word.startsWith('!')
  const wanted = word.slice(isExcluded ? 1 : 0).toLowerCase()
  return ({ name, message, labels }) => {
    const isIn =
      name.toLowerCase().includes(wanted) ||
      message.toLowerCase().includes(wanted) ||
      Object.values(labels).some((value) => value.toLowerCase().includes(wanted))
    return isIn !== isExcluded
  }
}

/** The filter with a state switched on or off. */
export function toggleState(text: string, state: string): string {
  const words = text.split(/\s+/).filter((word) => word !== '')
  const at = words.findIndex((word) => /^state[:=](?!!)/i.test(word))
  const low = state.toLowerCase()
  if (at < 0) return [...words, `state:${low}`].join(' ')
  const states = words[at]!.slice('state:'.length).toLowerCase().split(',')
  const next = states.includes(low) ? states.filter((one) => one !== low) : [...states, low]
  return words.flatMap((word, i) => (i !== at ? [word] : next.length > 0 ? [`state:${next.join(',')}`] : [])).join(' ')
}

/** The states that a filter selects by name. */
export function selectedStates(text: string): ReadonlySet<string> {
  const word = text.split(/\s+/).find((one) => /^state[:=](?!!)/i.test(one))
  return new Set(word === undefined ? [] : word.slice('state:'.length).toLowerCase().split(','))
}
