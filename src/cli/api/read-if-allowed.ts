/** Lists that the caller may not be allowed to read. A refusal is kept, so that a command never shows it as "none". */
import { isApiError } from '../../core/errors.ts'
import { compact } from '../../core/compact.ts'
import { CliError, EXIT } from '../errors/cli-error.ts'
import type { Terminal } from '../print/terminal.ts'
import type { Connection } from './connect.ts'

/** The objects of a kind, or the reason why the caller cannot see them. */
export interface Readable<T> {
  readonly items: readonly T[]
  /** The kind that the hub refused to list, for example `clusters`. */
  readonly refused?: string
}

/** Reads a list. A refusal of the hub becomes `refused`; a hub without the kind has no objects of it. */
export async function readIfAllowed<T>(what: string, reading: Promise<readonly T[]>): Promise<Readable<T>> {
  try {
    return { items: await reading }
  } catch (caught) {
    if (isApiError(caught, 'Forbidden')) return { items: [], refused: what }
    if (isApiError(caught, 'NotFound')) return { items: [] }
    throw caught
  }
}

/** Where `listReadable` looks. */
export interface ReadableScope {
  /** The namespace of the flag. If omitted, all namespaces. */
  readonly namespace?: string | undefined
  readonly connection: Pick<Connection, 'rest'> & Partial<Pick<Connection, 'namespace'>>
  readonly terminal: Pick<Terminal, 'say'>
}

/**
 * Reads a list without which a command shows nothing. A caller who may not read all namespaces gets the namespace of
 * the context, and is told so.
 */
export async function listReadable<T>(
  what: string,
  { namespace, connection, terminal }: ReadableScope,
  read: (scope: { readonly namespace?: string }) => Promise<readonly T[]>,
): Promise<{ readonly items: readonly T[]; readonly scope: { readonly namespace?: string } }> {
  const scope = compact({ namespace })
  const first = await readIfAllowed(what, read(scope))
  if (first.refused === undefined) return { items: first.items, scope }
  const own = { namespace: connection.namespace ?? 'default' }
  const second = namespace === undefined ? await readIfAllowed(what, read(own)) : first
  if (second.refused === undefined) {
    terminal.say(`showing namespace "${own.namespace}": you may not list ${what} in all namespaces`)
    return { items: second.items, scope: own }
  }
  throw new CliError(EXIT.forbidden, {
    what: `not allowed to list ${what} in namespace "${namespace ?? own.namespace}"`,
    todo: 'choose a namespace that you may read with "-n NAMESPACE", or ask its administrator for the role "view"',
  })
}
