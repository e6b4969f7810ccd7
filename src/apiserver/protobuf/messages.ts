/**
 * The messages of Kubernetes' protobuf form, by field number: every kind of the stable groups of 1.36. What is not
 * among them is refused by name, never dropped in silence.
 *
 * A field is its number, its name in JSON and its type. Before the type: `list`, `map` (with string keys), `keep` where
 * a zero means something, and `inline` for a message whose fields stand among the fields of its parent in JSON.
 */
import { KIND_LINES, MESSAGE_LINES } from './messages-table.ts'

/** A field of a message. */
export interface Field {
  readonly name: string
  readonly form: 'one' | 'list' | 'map' | 'inline'
  /** Whether a zero is told apart from nothing. */
  readonly keep: boolean
  readonly type: string
}

/** The fields of a message by number. */
export type Message = ReadonlyMap<number, Field>

interface Tables {
  readonly messages: ReadonlyMap<string, Message>
  readonly kinds: ReadonlyMap<string, string>
}

let tables: Tables | undefined

/** All messages, and the message of every `apiVersion/Kind`; read at the first use, which many servers never have. */
export function protobufTables(): Tables {
  tables ??= {
    messages: new Map(linesOf(MESSAGE_LINES).map((line) => messageOf(line))),
    kinds: new Map(linesOf(KIND_LINES).map((line) => line.split(' ') as [string, string])),
  }
  return tables
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '')
}

function messageOf(line: string): [string, Message] {
  const colon = line.indexOf(':')
  const fields = line.slice(colon + 1).split(',')
  return [line.slice(0, colon), new Map(fields.map((field) => fieldOf(field.trim().split(' '))))]
}

function fieldOf([number = '', name = '', ...words]: readonly string[]): [number, Field] {
  const form = (['list', 'map', 'inline'] as const).find((word) => words.includes(word)) ?? 'one'
  return [Number(number), { name, form, keep: words.includes('keep'), type: words.at(-1) ?? '' }]
}
