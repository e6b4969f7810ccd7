/** Template errors as Helm prints them. Its two versions lay them out differently. */
import { TemplateExecError } from '../../gotemplate/exec-options.ts'
import { HelmError } from '../helm-error.ts'
import type { HelmProfile } from '../profile.ts'

const WARNING = /HELM_ERR_START([\s\S]*)HELM_ERR_END/

/** Wraps what `required` and `fail` say, so that Helm shows it alone. */
export function warning(message: string): string {
  return `HELM_ERR_START${message}HELM_ERR_END`
}

/** A parse error: only where, and the last part of what. */
export function parseError(file: string, message: string): HelmError {
  const tokens = message.split(': ')
  if (tokens.length === 1) return new HelmError(`parse error in (${file}): ${message}`, { rendered: true })
  return new HelmError(`parse error at (${tokens[1]}): ${tokens.at(-1)}`, { rendered: true })
}

/** An execution error. */
export function execError(file: string, error: Error, profile: HelmProfile): HelmError {
  const { message } = error
  const wrapped = (text: string) => new HelmError(text, { cause: error, rendered: true })
  if (!(error instanceof TemplateExecError)) return wrapped(message)
  const tokens = splitThree(message)
  if (!tokens) return wrapped(`execution error in (${file}): ${message}`)
  const warned = WARNING.exec(tokens[2])
  if (warned) return wrapped(`execution error at (${tokens[1]}): ${warned[1]}`)
  return wrapped(profile.errorTrace ? trace(error) : message)
}

function splitThree(message: string): [string, string, string] | undefined {
  const first = message.indexOf(': ')
  const second = first < 0 ? -1 : message.indexOf(': ', first + 2)
  if (second < 0) return undefined
  return [message.slice(0, first), message.slice(first + 2, second), message.slice(second + 2)]
}

interface Place {
  readonly location: string
  readonly executing: string
  readonly message: string
}

/** A block per nested error if all of them are template errors; otherwise the message as it is. */
function trace(error: Error): string {
  const blocks: string[] = []
  for (let current: unknown = error; current instanceof Error; current = current.cause) {
    const place = placeOf(current.message)
    if (!place) return error.message
    let block = ''
    if (place.location) block += `${place.location}\n  `
    if (place.executing) block += `${place.executing}\n    `
    if (place.message) block += `${place.message}\n`
    if (blocks.at(-1) !== block) blocks.push(block)
  }
  return blocks.join('').trim()
}

function placeOf(text: string): Place | undefined {
  if (!text.startsWith('template: ')) return undefined
  const rest = text.slice('template: '.length)
  if (rest.startsWith('no template ')) return { location: '', executing: '', message: text }
  return executingPlace(rest) ?? simplePlace(rest)
}

function executingPlace(rest: string): Place | undefined {
  const marker = rest.indexOf(': executing ')
  if (marker < 0) return undefined
  const after = rest.slice(marker + ': executing '.length)
  const endQuote = after.indexOf('"', 1)
  if (!after.startsWith('"') || endQuote < 0) return undefined
  const atPlace = after.slice(endQuote + 1)
  const close = atPlace.indexOf('>: ')
  if (!atPlace.startsWith(' at <') || close < 0) return undefined
  return {
    location: rest.slice(0, marker),
    executing: `executing ${after.slice(0, endQuote + 1)} at <${atPlace.slice(' at <'.length, close)}>:`,
    message: beforeNested(atPlace.slice(close + '>: '.length)),
  }
}

function simplePlace(rest: string): Place | undefined {
  const at = rest.lastIndexOf(': ')
  if (at < 0) return undefined
  return { location: rest.slice(0, at), executing: '', message: beforeNested(rest.slice(at + 2)) }
}

function beforeNested(message: string): string {
  const at = message.indexOf(' template:')
  return at < 0 ? message : message.slice(0, at)
}
