// Tested by src/cli/commands/objects/objects.test.ts.
/** `flotilla delete`: prints the effect, asks for confirmation and deletes. */
import { settleAll } from '../../../core/async/settle-all.ts'
import type { Client } from '../../../client/client.ts'
import { clientOver } from '../../../client/create-client.ts'
import { isApiError } from '../../../core/errors.ts'
import type { Connection } from '../../api/connect.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { noSuchObject } from '../../errors/object-not-found.ts'
import { findResource, objectName } from '../../api/find-resource.ts'
import type { ApiResource } from '../../api/find-resource.ts'
import type { Terminal } from '../../print/terminal.ts'
import { readObjects, resourceFinder, withNamespace } from './apply.ts'
import { confirmRemoval, computeDeleteImpacts } from './delete-impact.ts'
import type { DeleteImpact } from './delete-impact.ts'

/** Flags of `delete`. */
export interface DeleteFlags {
  readonly filename?: readonly string[]
  readonly namespace?: string
  readonly yes?: boolean
  readonly ignoreNotFound?: boolean
}

export interface DeleteInput {
  readonly connection: Connection
  readonly terminal: Terminal
  readonly flags: DeleteFlags
  readonly stdin: AsyncIterable<Uint8Array>
  /** Asks a yes-or-no question. */
  readonly confirm: (question: string) => Promise<boolean>
  /** Asks the user to type a name. */
  readonly confirmName?: (question: string, name: string) => Promise<boolean>
}

/** An object to delete. */
export interface DeleteTarget {
  readonly resource: ApiResource
  readonly name: string
  readonly namespace: string | undefined
}

/** Runs `delete KIND NAME…`, `delete KIND/NAME…` or `delete -f FILE`. */
export async function deleteObjects(words: readonly string[], input: DeleteInput): Promise<void> {
  const client = clientOver(input.connection.rest)
  const victims = await present(await victimsOf(words, input), client, input)
  if (victims.length === 0) return
  const reach = await computeDeleteImpacts(client, victims)
  for (const { sentence } of reach) input.terminal.step('warn', sentence)
  await askBefore(victims, reach, input)
  const removals = reach.flatMap(({ removal }) => removal ?? [])
  // The user confirmed the removal from exactly these clusters, so the guard of the hub need not hold it.
  if (!input.flags.yes) for (const one of removals) await confirmRemoval(client, one)
  for (const { resource, name, namespace } of victims) {
    try {
      await client.delete(resource, { name, ...(namespace !== undefined && { namespace }) })
      input.terminal.data(`${objectName(resource, name)} deleted\n`)
    } catch (caught) {
      if (input.flags.ignoreNotFound && isApiError(caught, 'NotFound')) continue
      throw caught
    }
  }
  for (const { bundle, clusters } of removals) {
    if (clusters.length === 0) continue
    const list = `flotilla get rollouts -n ${bundle.namespace}   # ${bundle.name}-removal-…`
    input.terminal.step('next', input.flags.yes ? `${list}; a large removal waits until it is resumed` : list)
  }
}

/** The targets that exist. */
async function present(
  victims: readonly DeleteTarget[],
  client: Pick<Client, 'get'>,
  { connection, flags }: DeleteInput,
): Promise<DeleteTarget[]> {
  const there: DeleteTarget[] = []
  for (const victim of victims) {
    const { resource, name, namespace } = victim
    try {
      await client.get(resource, { name, ...(namespace !== undefined && { namespace }) })
      there.push(victim)
    } catch (caught) {
      if (!isApiError(caught, 'NotFound')) throw caught
      if (!flags.ignoreNotFound) throw await noSuchObject(victim, connection.rest)
    }
  }
  return there
}

async function victimsOf(words: readonly string[], input: DeleteInput): Promise<DeleteTarget[]> {
  const { connection, flags } = input
  const namespaceFor = (resource: ApiResource): string | undefined =>
    resource.scope === 'Namespaced' ? (flags.namespace ?? connection.namespace ?? 'default') : undefined
  if (flags.filename && flags.filename.length > 0) {
    const find = resourceFinder(connection)
    const victims: DeleteTarget[] = []
    for (const { object, where } of await readObjects(flags.filename, input.stdin)) {
      const resource = await find(object, where)
      const { name, namespace } = withNamespace(object, resource, flags.namespace ?? connection.namespace).metadata
      victims.push({ resource, name, namespace })
    }
    return victims.reverse()
  }
  const pairs = words.some((word) => word.includes('/'))
    ? words.map((word) => word.split('/') as [string, string | undefined])
    : words.slice(1).map((name): [string, string] => [words[0]!, name])
  if (pairs.length === 0 || pairs.some(([kind, name]) => !kind || !name)) {
    throw new CliError(EXIT.usage, {
      what: 'missing argument KIND NAME',
      todo: 'use "flotilla delete KIND NAME", "flotilla delete KIND/NAME" or "flotilla delete -f FILE"',
    })
  }
  return await settleAll(
    pairs.map(async ([kind, name]) => {
      const resource = await findResource(connection.rest, kind)
      return { resource, name: name!, namespace: namespaceFor(resource) }
    }),
  )
}

async function askBefore(
  victims: readonly DeleteTarget[],
  reach: readonly DeleteImpact[],
  { flags, terminal, confirm, confirmName }: DeleteInput,
): Promise<void> {
  const names = victims.map(({ resource, name, namespace }) =>
    namespace === undefined ? objectName(resource, name) : `${objectName(resource, name)} in namespace "${namespace}"`,
  )
  if (flags.yes) return
  const what = names.length === 1 ? names[0]! : `${names.length} objects (${names.join(', ')})`
  if (!terminal.isInteractive) {
    throw new CliError(EXIT.usage, {
      what: `delete ${what}: stdin is not a terminal`,
      todo: 'pass --yes to confirm',
    })
  }
  const far = reach.find(({ removal }) => removal && removal.clusters.length > 1)?.removal
  const isMeant =
    far && confirmName ? await confirmName(`delete ${what}?`, far.bundle.name) : await confirm(`delete ${what}?`)
  if (!isMeant) throw new CliError(EXIT.usage, { what: 'cancelled; nothing was deleted' })
}
