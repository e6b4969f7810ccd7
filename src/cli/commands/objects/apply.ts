// Tested by src/cli/commands/objects/objects.test.ts.
/** `flotilla apply`: server-side apply of files. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '../../../client/client.ts'
import { clientOver } from '../../../client/create-client.ts'
import { isApiError } from '../../../core/errors.ts'
import { readBody } from '../../../core/http.ts'
import { isObject } from '../../../core/json.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import type { Bundle } from '../../../kinds/native/bundle.ts'
import { readYaml } from '../../../yaml/read/read-yaml.ts'
import type { Connection } from '../../api/connect.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { readText } from '../../input/read-text-file.ts'
import { objectName, resourcesOf } from '../../api/find-resource.ts'
import { BUNDLES, listAll, PLACEMENTS } from '../../api/flotilla-resources.ts'
import { readIfAllowed } from '../../api/read-if-allowed.ts'
import type { ApiResource } from '../../api/find-resource.ts'
import { didYouMean } from '../../errors/did-you-mean.ts'
import type { Terminal } from '../../print/terminal.ts'

/** Flags of `apply`. */
export interface ApplyFlags {
  readonly filename: readonly string[]
  readonly namespace?: string
  readonly forceConflicts?: boolean
  /** `server` also without a value. */
  readonly dryRun?: string | boolean
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
  const isDryRun = flags.dryRun === 'server' || flags.dryRun === true
  if (flags.dryRun !== undefined && !isDryRun && flags.dryRun !== 'none') {
    throw new CliError(EXIT.usage, {
      what: `invalid --dry-run ${JSON.stringify(flags.dryRun)}`,
      todo: 'use --dry-run',
    })
  }
  const objects = await readObjects(flags.filename, stdin)
  const client = clientOver(connection.rest)
  const find = resourceFinder(connection)
  const bundles: Bundle[] = []
  for (const { object, where } of objects) {
    const resource = await find(object, where)
    const placed = withNamespace(object, resource, flags.namespace ?? connection.namespace)
    try {
      const before = await versionBefore(client, resource, placed)
      const applied = await client.apply(resource, placed, {
        fieldManager: flags.fieldManager,
        force: flags.forceConflicts ?? false,
        dryRun: isDryRun,
      })
      const suffix = isDryRun ? ' (server dry run)' : ''
      const outcome = outcomeOf(before, isDryRun ? undefined : applied.metadata.resourceVersion)
      terminal.data(`${objectName(resource, applied.metadata.name)} ${outcome}${suffix}\n`)
      if (resource.kind === 'Bundle' && resource.group === BUNDLES.group) bundles.push(applied as unknown as Bundle)
    } catch (caught) {
      terminal.say(`in ${where}:`)
      throw caught
    }
  }
  if (!isDryRun) await warnOfMissingPlacements(client, bundles, terminal)
}

/** The version of an object before it is applied; `Absent`, or `Unknown` where the caller may not read it. */
async function versionBefore(client: Client, resource: ApiResource, { metadata }: UnknownObject): Promise<string> {
  try {
    const { name, namespace } = metadata
    const found = await client.get(resource, { name, ...(namespace !== undefined && { namespace }) })
    return found.metadata.resourceVersion ?? UNKNOWN
  } catch (caught) {
    if (isApiError(caught, 'NotFound')) return ABSENT
    if (isApiError(caught, 'Forbidden')) return UNKNOWN
    throw caught
  }
}

const ABSENT = 'Absent'
const UNKNOWN = 'Unknown'

/** What happened, in the words of kubectl; `serverside-applied` where it is unknown. */
function outcomeOf(before: string, after: string | undefined): string {
  if (before === ABSENT) return 'created'
  if (before === UNKNOWN || after === undefined) return 'serverside-applied'
  return before === after ? 'unchanged' : 'configured'
}

/** A Bundle may be applied before its Placement, so this is no error. */
async function warnOfMissingPlacements(
  client: Client,
  bundles: readonly Bundle[],
  terminal: Pick<Terminal, 'step'>,
): Promise<void> {
  const known = new Map<string, readonly string[] | undefined>()
  for (const { metadata, spec } of bundles) {
    const { namespace = 'default', name } = metadata
    if (!known.has(namespace)) {
      const { items, refused } = await readIfAllowed('placements', listAll(client, PLACEMENTS, { namespace }))
      known.set(namespace, refused === undefined ? items.map((one) => one.metadata.name) : undefined)
    }
    const placements = known.get(namespace)
    if (!placements || placements.includes(spec.placement)) continue
    const advice = didYouMean(spec.placement, placements)
    terminal.step(
      'warn',
      `Placement "${spec.placement}" of Bundle "${name}" does not exist in namespace "${namespace}"; the Bundle reaches no cluster${advice === undefined ? '' : `; ${advice}`}`,
    )
  }
}

/**
 * Reads all objects of files. A directory stands for its .yaml, .yml and .json files. `-` is
 * stdin; the items of lists are separate objects.
 */
export async function readObjects(
  files: readonly string[],
  stdin: AsyncIterable<Uint8Array>,
): Promise<readonly FileObject[]> {
  const objects: FileObject[] = []
  for (const file of files.flatMap(filesAt)) {
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

function filesAt(path: string): readonly string[] {
  if (path === '-' || !statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [path]
  const names = readdirSync(path).filter((name) => /\.(ya?ml|json)$/.test(name))
  if (names.length > 0) return names.sort().map((name) => join(path, name))
  throw new CliError(EXIT.usage, { where: path, what: 'the directory has no .yaml, .yml or .json files' })
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
