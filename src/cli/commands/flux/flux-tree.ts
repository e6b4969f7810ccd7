// Tested by src/cli/commands/flux/flux-objects.test.ts.
/** `flotilla flux tree`: the objects of a Kustomization, and of the objects of Flux that it yields. */
import { clientOver } from '../../../client/create-client.ts'
import type { Client } from '../../../client/client.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { FLUX_COMMAND_KINDS } from './flux-kinds.ts'
import type { FluxObject } from './flux-kinds.ts'
import { listed, named } from './flux-objects.ts'
import type { FluxInput } from './flux-objects.ts'

/** The annotation of the hub with the name of the Kustomization whose build has the object. */
const NESTED_IN = 'flotilla.dev/nested-in'

interface Branch {
  readonly text: string
  readonly branches: readonly Branch[]
}

/** Prints the objects of a Kustomization as a tree. */
export async function fluxTree(name: string, input: FluxInput): Promise<void> {
  const client = clientOver(input.connection.rest)
  const root = await named(FLUX_COMMAND_KINDS.kustomization, name, client, input)
  const { namespace = '' } = root.metadata
  const nested = await nestedObjects(client, { ...input, flags: { ...input.flags, namespace, allNamespaces: false } })
  const branches = branchesOf(root, nested, { isCompact: input.flags.compact === true, above: [name] })
  if (!root.status?.inventory && branches.length === 0) {
    throw new CliError(EXIT.failed, {
      what: `Kustomization ${name} has no inventory: it is not applied yet, or clusters have different objects`,
      todo: `list the objects of each cluster with "flotilla get bundleobjects -n ${namespace} --field-selector bundle=kustomization-${name}"`,
    })
  }
  input.terminal.data(`Kustomization/${namespace}/${name}\n${drawn(branches, '')}`)
}

/** The objects of Flux that builds have, by the name of the outer Kustomization. */
async function nestedObjects(client: Client, input: FluxInput): Promise<ReadonlyMap<string, readonly FluxObject[]>> {
  const found = new Map<string, FluxObject[]>()
  for (const kind of Object.values(FLUX_COMMAND_KINDS)) {
    for (const object of await listed(kind, client, input)) {
      const outer = object.metadata.annotations?.[NESTED_IN]
      if (outer !== undefined) found.set(outer, [...(found.get(outer) ?? []), { ...object, kind: kind.type.kind }])
    }
  }
  return found
}

function branchesOf(
  { kind, metadata, status }: FluxObject,
  nested: ReadonlyMap<string, readonly FluxObject[]>,
  { isCompact, above }: { readonly isCompact: boolean; readonly above: readonly string[] },
): readonly Branch[] {
  const entries = isCompact ? [] : (status?.inventory?.entries ?? [])
  const own = entries.map(({ id }) => ({ text: treeName(id), branches: [] }))
  const inner = kind === FLUX_COMMAND_KINDS.kustomization.type.kind ? (nested.get(metadata.name) ?? []) : []
  return [
    ...own,
    ...inner.map((object) => {
      const { name, namespace = '' } = object.metadata
      const isAbove = object.kind === kind && above.includes(name)
      return {
        text: `${object.kind}/${namespace}/${name}`,
        branches: isAbove ? [] : branchesOf(object, nested, { isCompact, above: [...above, name] }),
      }
    }),
  ]
}

function drawn(branches: readonly Branch[], indent: string): string {
  return branches
    .map(({ text, branches: inner }, at) => {
      const isLast = at === branches.length - 1
      return `${indent}${isLast ? '└──' : '├──'} ${text}\n${drawn(inner, `${indent}${isLast ? '    ' : '│   '}`)}`
    })
    .join('')
}

/** `Kind/namespace/name` of an id `namespace_name_group_kind`. */
function treeName(id: string): string {
  const [namespace = '', ...rest] = id.split('_')
  const kindName = rest.at(-1) ?? ''
  const name = rest.slice(0, -2).join('_').replaceAll('__', ':')
  return [kindName, ...(namespace === '' ? [] : [namespace]), name].join('/')
}
