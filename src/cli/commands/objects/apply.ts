// Tested by src/cli/commands/objects/objects.test.ts.
/** `flotilla apply`: server-side apply of files. */
import { clientOver } from '../../../client/create-client.ts'
import { readBody } from '../../../core/http.ts'
import { isObject } from '../../../core/json.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import { readYaml } from '../../../yaml/read/read-yaml.ts'
import type { Connection } from '../../api/connect.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { readText } from '../../input/read-text-file.ts'
import { objectName, resourcesOf } from '../../api/find-resource.ts'
import type { ApiResource } from '../../api/find-resource.ts'
import { didYouMean } from '../../errors/did-you-mean.ts'
import type { Terminal } from '../../print/terminal.ts'

/** Flags of `apply`. */
export interface ApplyFlags {
  readonly filename: readonly string[]
  readonly namespace?: string
  readonly forceConflicts?: boolean
  readonly dryRun?: string
  readonly fieldManager: string
}

export interface ApplyInput {
  readonly connection: Connection
  readonly terminal: Terminal
  readonly flags: ApplyFlags
  readonly stdin: AsyncIterable<Uint8Array>
}

/** An object of a file and its place in the file. */
export interface FileObject {
  readonly object: UnknownObject
  readonly where: string
}

/** Applies every object of the files in their order. */
export async function apply({ connection, terminal, flags, stdin }: ApplyInput): Promise<void> {
  const isDryRun = flags.dryRun === 'server'
  if (flags.dryRun !== undefined && flags.dryRun !== 'server' && flags.dryRun !== 'none') {
    throw new CliError(EXIT.usage, {
      what: `invalid --dry-run ${JSON.stringify(flags.dryRun)}`,
      todo: 'use --dry-run=server',
    })
  }
  const objects = await readObjects(flags.filename, stdin)
  const client = clientOver(connection.rest)
  const find = resourceFinder(connection)
  for (const { object, where } of objects) {
    const resource = await find(object, where)
    const placed = withNamespace(object, resource, flags.namespace ?? connection.namespace)
    try {
      const applied = await client.apply(resource, placed, {
        fieldManager: flags.fieldManager,
        force: flags.forceConflicts ?? false,
        dryRun: isDryRun,
      })
      const suffix = isDryRun ? ' (server dry run)' : ''
      terminal.data(`${objectName(resource, applied.metadata.name)} serverside-applied${suffix}\n`)
    } catch (caught) {
      terminal.say(`in ${where}:`)
      throw caught
    }
  }
}

/** Reads all objects of files. `-` is stdin; the items of lists are separate objects. */
export async function readObjects(
  files: readonly string[],
  stdin: AsyncIterable<Uint8Array>,
): Promise<readonly FileObject[]> {
  const objects: FileObject[] = []
  for (const file of files) {
    const name = file === '-' ? 'stdin' : file
    const text = file === '-' ? await readBody(stdin, Infinity) : await readText(file)
    for (const document of readYaml(text, { file: name })) {
      if (document.value === null) continue
      const where = `${name}, line ${document.start.line}`
      for (const object of listItems(document.value)) objects.push({ object: asObject(object, where), where })
    }
  }
  if (objects.length === 0) {
    throw new CliError(EXIT.usage, { where: files.join(', '), what: 'no objects found' })
  }
  return objects
}

/** Finds the kind of an object by its apiVersion and kind. Each group version is requested once. */
export function resourceFinder(connection: Connection): (object: UnknownObject, where: string) => Promise<ApiResource> {
  const known = new Map<string, Promise<readonly ApiResource[]>>()
  return async ({ apiVersion, kind }, where) => {
    const resources = known.get(apiVersion) ?? resourcesOf(connection.rest, apiVersion)
    known.set(apiVersion, resources)
    const found = (await resources).find((resource) => resource.kind === kind)
    if (found) return found
    const kinds = (await resources).map((resource) => resource.kind)
    const advice = didYouMean(kind, kinds)
    throw new CliError(EXIT.usage, {
      where,
      what: `no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`,
      todo: advice ?? 'the hub serves the kinds of "kubectl api-resources"; workloads belong into a Bundle',
    })
  }
}

/** Sets the namespace of a namespaced object without metadata.namespace. */
export function withNamespace(
  object: UnknownObject,
  resource: ApiResource,
  namespace: string | undefined,
): UnknownObject {
  if (resource.scope === 'Cluster' || object.metadata.namespace !== undefined) return object
  return { ...object, metadata: { ...object.metadata, namespace: namespace ?? 'default' } }
}

function listItems(value: unknown): readonly unknown[] {
  const isList = isObject(value) && Array.isArray(value['items']) && String(value['kind']).endsWith('List')
  return isList ? (value['items'] as unknown[]) : [value]
}

function asObject(value: unknown, where: string): UnknownObject {
  const metadata = isObject(value) ? value['metadata'] : undefined
  if (
    isObject(value) &&
    typeof value['apiVersion'] === 'string' &&
    typeof value['kind'] === 'string' &&
    isObject(metadata) &&
    typeof metadata['name'] === 'string'
  ) {
    return value as unknown as UnknownObject
  }
  throw new CliError(EXIT.usage, {
    where,
    what: 'not a Kubernetes object',
    why: 'apiVersion, kind and metadata.name are required',
  })
}
