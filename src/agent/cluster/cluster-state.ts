/**
 * What the agent keeps in the managed cluster's own API, in namespace `flotilla-agent`: one ConfigMap per bundle with its inventory (more for a
 * large one), and one with the high-water mark of documents. They live and die with the cluster, so that a restored disk cannot take it
 * back in time.
 */
import type { Static } from 'typebox'
import type { Client } from '../../client/client.ts'
import { base64, fromBase64, fromUtf8, hex, sha256, unzstd, utf8, zstd } from '../../core/bytes.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { isApiError } from '../../core/errors.ts'
import { Type } from '../../core/schema/typebox.ts'
import { BundleOptionsSchema } from '../../kinds/fields/bundle-options.ts'
import type { KubeObject, ResourceType } from '../../kinds/meta.ts'
import type { HookState } from '../../plan/apply/hook-step.ts'
import type { OperationKind } from '../../plan/apply/operation.ts'
import type { AcceptedDocument } from '../../wire/document/document-chain.ts'
import { RemovalRow } from '../../wire/link/frames.ts'
import { checkValue, parseJson, WireError } from '../../wire/validate.ts'

/** The agent's own namespace; no bundle may touch it. */
export const AGENT_NAMESPACE = 'flotilla-agent'

const MARK_NAME = 'flotilla-agent-mark'
const RECEIPTS_NAME = 'flotilla-agent-receipts'
const MANAGED_BY = { 'app.kubernetes.io/managed-by': 'flotilla-agent' }
const ROLE_LABEL = 'flotilla.dev/agent-state'
const LIMIT = 4 * 1024 * 1024
// A ConfigMap holds one mebibyte; what is larger than this is compressed, in pages of so many objects.
const INLINE_CHARS = 128 * 1024
const PAGE_OBJECTS = 2500
const PAGE_BYTES = 64 * 1024 * 1024

interface ConfigMap extends KubeObject {
  data?: Record<string, string>
  binaryData?: Record<string, string>
}

/** ConfigMaps, which the state is kept in. */
export const CONFIG_MAPS: ResourceType<ConfigMap> = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  scope: 'Namespaced',
}
const SECRETS: ResourceType<ConfigMap> = { ...CONFIG_MAPS, kind: 'Secret', plural: 'secrets' }
const NAMESPACES: ResourceType<KubeObject> = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  scope: 'Cluster',
}

const DigestText = Type.Unsafe<Digest>({ type: 'string', pattern: '^sha256:[0-9a-f]{64}$' })

const InventoryObject = Type.Object({
  apiVersion: Type.String(),
  kind: Type.String(),
  namespace: Type.Optional(Type.String()),
  name: Type.String(),
  /** Absent until it was seen applied. */
  uid: Type.Optional(Type.String()),
  /** It was there before the bundle: never deleted with it. */
  adopted: Type.Optional(Type.Boolean()),
  /** The beginning of the digest of what was applied last. */
  digest: Type.Optional(Type.String()),
  /** The bundle's share of its fields when it was last as it should be (plan/objects/managed-fields.ts). */
  share: Type.Optional(Type.String()),
  /** What the object said about its own end when it was last applied. */
  prune: Type.Optional(Type.Unsafe<'Always' | 'Never' | 'Last' | 'Confirm'>({ type: 'string' })),
  delete: Type.Optional(Type.Unsafe<'Delete' | 'Orphan'>({ type: 'string' })),
  madeNamespace: Type.Optional(Type.Boolean()),
  /** Its wave, for the way out; absent for wave 0. */
  wave: Type.Optional(Type.Integer()),
})

/** One object a bundle has, or may have, on the cluster. */
export type InventoryObject = Static<typeof InventoryObject>

const HookRecord = Type.Object({
  apiVersion: Type.String(),
  kind: Type.String(),
  namespace: Type.Optional(Type.String()),
  name: Type.String(),
  /** The operation and the moment it was run for. */
  operation: Type.Integer(),
  event: Type.String(),
  state: Type.Unsafe<HookState>({ type: 'string' }),
  /** What it made; absent before it is known and after it was deleted. */
  uid: Type.Optional(Type.String()),
  since: Type.String(),
  message: Type.Optional(Type.String()),
})

/** One run of a hook, and what it made; no part of what the bundle has. */
export type HookRecord = Static<typeof HookRecord>

const InventoryHead = {
  bundle: Type.String(),
  generation: Type.Integer(),
  epoch: Type.Integer(),
  set: DigestText,
  /** Applying: `objects` is old ∪ new. Applied: all of the set is applied, the rest waits to be pruned. Settled: exactly the set. */
  phase: Type.Union([Type.Literal('Applying'), Type.Literal('Applied'), Type.Literal('Settled')]),
  /** What is being done: which operation, which wave (from 0), and when that wave was applied. */
  operation: Type.Optional(
    Type.Object({
      kind: Type.Unsafe<OperationKind>({ type: 'string' }),
      wave: Type.Integer(),
      appliedAt: Type.Optional(Type.String()),
      /** When the wave began. */
      since: Type.Optional(Type.String()),
      /** Which try it is, from 1. */
      attempt: Type.Optional(Type.Integer()),
      /** Why it failed, once something is done about that. */
      failed: Type.Optional(
        Type.Object({
          by: Type.Union([Type.Literal('Hook'), Type.Literal('Time')]),
          message: Type.String(),
          firstFailing: Type.Optional(Type.String()),
          at: Type.String(),
        }),
      ),
    }),
  ),
  /** How many operations there were; the number of the present one. */
  operations: Type.Optional(Type.Integer()),
  hooks: Type.Optional(Type.Array(HookRecord)),
  /** The set that failed here, and what was done about it. */
  remedy: Type.Optional(
    Type.Object({
      action: Type.Union([Type.Literal('RollBack'), Type.Literal('Uninstall')]),
      set: DigestText,
      generation: Type.Integer(),
      message: Type.String(),
      firstFailing: Type.Optional(Type.String()),
    }),
  ),
  /** The mark of the objects, when they were made here of the set's files. */
  rendered: Type.Optional(Type.String()),
  /** Sets that were settled here before, newest first. */
  history: Type.Optional(Type.Array(DigestText)),
  /** What a removal of this generation has done already; those objects are not among `objects` any more. */
  removed: Type.Optional(
    Type.Object({
      generation: Type.Integer(),
      deleted: Type.Integer(),
      left: Type.Array(Type.String()),
      leftTotal: Type.Integer(),
    }),
  ),
  /** The options of the set, for the day the bundle is removed. */
  options: Type.Optional(BundleOptionsSchema),
}

const InventorySchema = Type.Object({ ...InventoryHead, objects: Type.Array(InventoryObject) })
const PagedSchema = Type.Object({
  ...InventoryHead,
  /** Where the objects are: ConfigMaps of this half, so many. */
  pages: Type.Object({ half: Type.Union([Type.Literal('a'), Type.Literal('b')]), count: Type.Integer() }),
})

/** What one bundle has on the cluster. */
export type Inventory = Static<typeof InventorySchema>

const FrozenSchema = Type.Object({
  /** Marks of objects are made with it, so that nobody can try guesses against them. Base64. */
  key: Type.String({ minLength: 40, maxLength: 64 }),
  /** What charts drew (render/helm/frozen-random.ts). */
  drawn: Type.Unsafe<Record<string, unknown>>({ type: 'object' }),
})

/** What rendering in the cluster must remember of a bundle. */
export type FrozenState = Static<typeof FrozenSchema>

const MarkSchema = Type.Object({
  clusterId: Type.String(),
  epoch: Type.Integer(),
  revision: Type.Integer(),
  digest: DigestText,
})

/** How the objects of an inventory were last written. */
interface Written {
  readonly objects: readonly InventoryObject[]
  readonly pages?: { readonly half: 'a' | 'b'; readonly count: number }
}

/** Reads and writes the agent's state in the cluster; only one agent writes it, and a second one meets a Conflict. */
export function createClusterState(client: Client) {
  const versions = new Map<string, ConfigMap>()
  const written = new Map<string, Written>()
  const frozenVersions = new Map<string, ConfigMap['metadata']>()
  /** Names of pages that may be there; all of them once they were listed, for nobody else makes any. */
  let seenPages = { names: new Set<string>(), areAll: false }

  async function find(name: string, signal?: AbortSignal): Promise<ConfigMap | undefined> {
    return client.get(CONFIG_MAPS, { namespace: AGENT_NAMESPACE, name }, signal).catch(absent)
  }

  async function read(name: string, signal?: AbortSignal): Promise<string | undefined> {
    const found = await find(name, signal)
    if (found) versions.set(name, found)
    else versions.delete(name)
    return found?.data?.['state']
  }

  async function write(
    name: string,
    role: string,
    data: ConfigMap['data'] | undefined,
    binary?: ConfigMap['binaryData'],
  ) {
    const current = versions.get(name)
    const labels = { ...MANAGED_BY, [ROLE_LABEL]: role }
    const content = { ...(data ? { data } : {}), ...(binary ? { binaryData: binary } : {}) }
    const metadata = { name, namespace: AGENT_NAMESPACE, labels }
    try {
      const answer = current
        ? await client.update(CONFIG_MAPS, {
            apiVersion: 'v1',
            kind: 'ConfigMap',
            metadata: { ...current.metadata, labels },
            ...content,
          })
        : await create(CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata, ...content })
      // Only its version is needed again, not its content.
      versions.set(name, { apiVersion: 'v1', kind: 'ConfigMap', metadata: answer.metadata })
    } catch (caught) {
      // Whoever else wrote, or deleted it: the next read tells.
      versions.delete(name)
      throw caught
    }
  }

  async function create<T extends KubeObject>(type: ResourceType<T>, object: T): Promise<T> {
    try {
      return await client.create(type, object)
    } catch (caught) {
      if (!isApiError(caught, 'NotFound')) throw caught
      const metadata = { name: AGENT_NAMESPACE, labels: MANAGED_BY }
      await client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata })
      return client.create(type, object)
    }
  }

  async function remove(name: string): Promise<void> {
    versions.delete(name)
    await client.delete(CONFIG_MAPS, { namespace: AGENT_NAMESPACE, name }).catch(absent)
    seenPages.names.delete(name)
  }

  /** The pages of one bundle, also those that a crash has left. */
  async function pagesOf(name: string): Promise<string[]> {
    const known = seenPages
    if (!known.areAll) {
      for await (const { metadata } of allOf('page')) known.names.add(metadata.name)
      known.areAll = true
    }
    return [...known.names].filter((page) => page.startsWith(`${name}-`))
  }

  async function readPages(name: string, pages: NonNullable<Written['pages']>, signal: AbortSignal) {
    const objects: InventoryObject[] = []
    for (let page = 0; page < pages.count; page++) {
      const pageName = pageNameOf(name, pages.half, page)
      const found = await find(pageName, signal)
      const packed = found?.binaryData?.['objects']
      if (packed === undefined) throw new WireError('Malformed', `inventory page ${pageName} is missing`)
      const text = fromUtf8(unzstd(fromBase64(packed), PAGE_BYTES))
      objects.push(...checkValue(Type.Array(InventoryObject), JSON.parse(text) as unknown, pageName))
    }
    return objects
  }

  async function parseInventory(name: string, text: string, signal: AbortSignal): Promise<Inventory> {
    const head = parseHead(name, text)
    if (!('pages' in head)) {
      written.set(head.bundle, { objects: head.objects })
      return head
    }
    const { pages, ...rest } = head
    const objects = await readPages(name, pages, signal)
    written.set(head.bundle, { objects, pages })
    return { ...rest, objects }
  }

  // Into the half that is not in use; the head then names it in one write, and until then the other half counts.
  async function writePages(name: string, objects: readonly InventoryObject[], before: Written['pages']) {
    const half = before?.half === 'a' ? 'b' : 'a'
    const count = Math.ceil(objects.length / PAGE_OBJECTS)
    for (let page = 0; page < count; page++) {
      const pageName = pageNameOf(name, half, page)
      const packed = zstd(utf8(JSON.stringify(objects.slice(page * PAGE_OBJECTS, (page + 1) * PAGE_OBJECTS))))
      const left = await find(pageName)
      if (left) versions.set(pageName, left)
      seenPages.names.add(pageName)
      await write(pageName, 'page', undefined, { objects: base64(packed) })
      versions.delete(pageName)
    }
    return { half, count } as const
  }

  async function removePages(name: string, pages: Written['pages']): Promise<void> {
    for (let page = 0; page < (pages?.count ?? 0); page++) await remove(pageNameOf(name, pages!.half, page))
  }

  /** Every ConfigMap of one role. */
  async function* allOf(role: string, signal?: AbortSignal): AsyncIterable<ConfigMap> {
    let token: string | undefined
    do {
      const select = { namespace: AGENT_NAMESPACE, labelSelector: `${ROLE_LABEL}=${role}`, limit: 50 }
      const more = token === undefined ? {} : { continue: token }
      const page = await client.list(CONFIG_MAPS, { ...select, ...more }, signal)
      yield* page.items
      token = page.continue
    } while (token !== undefined)
  }

  return {
    async readInventory(bundle: string, signal: AbortSignal): Promise<Inventory | undefined> {
      const name = inventoryName(bundle)
      const text = await read(name, signal)
      return text === undefined ? undefined : parseInventory(name, text, signal)
    },
    /** Every inventory of the cluster, also of bundles that no document names any more. */
    async listInventories(signal: AbortSignal): Promise<Inventory[]> {
      const found: Inventory[] = []
      for await (const item of allOf('inventory', signal)) {
        const { name } = item.metadata
        versions.set(name, item)
        const text = item.data?.['state']
        if (text !== undefined) found.push(await parseInventory(name, text, signal))
      }
      return found
    },
    /** Writes an inventory; objects that are the very list written last are not written again. */
    async writeInventory(inventory: Inventory): Promise<void> {
      const { bundle, objects } = inventory
      const name = inventoryName(bundle)
      const before = written.get(bundle)
      const { objects: _objects, ...head } = inventory
      if (before?.pages && before.objects === objects) {
        await write(name, 'inventory', { state: JSON.stringify({ ...head, pages: before.pages }) })
        return
      }
      const inline = JSON.stringify(inventory)
      if (inline.length <= INLINE_CHARS) {
        await write(name, 'inventory', { state: inline })
        written.set(bundle, { objects })
      } else {
        const pages = await writePages(name, objects, before?.pages)
        await write(name, 'inventory', { state: JSON.stringify({ ...head, pages }) })
        written.set(bundle, { objects, pages })
      }
      await removePages(name, before?.pages)
    },
    /** Deletes it with all its pages, also those that a crash has left; a head never names a page that is not there. */
    async deleteInventory(bundle: string): Promise<void> {
      const name = inventoryName(bundle)
      const text = await read(name)
      const head = text === undefined ? undefined : parseHead(name, text)
      if (head && 'pages' in head) {
        const { pages: _pages, ...rest } = head
        await write(name, 'inventory', { state: JSON.stringify({ ...rest, objects: [] }) })
      }
      written.delete(bundle)
      for (const page of await pagesOf(name)) await remove(page)
      await remove(name)
    },
    /** What rendering here drew and must draw again, by bundle: in a Secret, for passwords are among it. */
    async readFrozen(bundle: string, signal: AbortSignal): Promise<FrozenState | undefined> {
      const name = frozenName(bundle)
      const found = await client.get(SECRETS, { namespace: AGENT_NAMESPACE, name }, signal).catch(absent)
      const packed = found?.data?.['state']
      if (!found || packed === undefined) return undefined
      frozenVersions.set(bundle, found.metadata)
      return parseJson(FrozenSchema, unzstd(fromBase64(packed), PAGE_BYTES), {
        what: `Secret ${AGENT_NAMESPACE}/${name}`,
        maxBytes: PAGE_BYTES,
      })
    },
    async writeFrozen(bundle: string, frozen: FrozenState): Promise<void> {
      const labels = { ...MANAGED_BY, [ROLE_LABEL]: 'frozen' }
      const before = frozenVersions.get(bundle)
      const metadata = before ? { ...before, labels } : { name: frozenName(bundle), namespace: AGENT_NAMESPACE, labels }
      const data = { state: base64(zstd(utf8(JSON.stringify(frozen)))) }
      const secret = { apiVersion: 'v1', kind: 'Secret', metadata, data }
      frozenVersions.delete(bundle)
      const answer = await (before ? client.update(SECRETS, secret) : create(SECRETS, secret))
      frozenVersions.set(bundle, answer.metadata)
    },
    async deleteFrozen(bundle: string): Promise<void> {
      frozenVersions.delete(bundle)
      await client.delete(SECRETS, { namespace: AGENT_NAMESPACE, name: frozenName(bundle) }).catch(absent)
    },
    /** What became of bundles that were removed, newest first. */
    async readReceipts(signal?: AbortSignal): Promise<RemovalRow[]> {
      const text = await read(RECEIPTS_NAME, signal)
      return text === undefined
        ? []
        : parseJson(Type.Array(RemovalRow), utf8(text), { what: 'receipts', maxBytes: LIMIT })
    },
    writeReceipts: (receipts: readonly RemovalRow[]) =>
      write(RECEIPTS_NAME, 'receipts', { state: JSON.stringify(receipts) }),
    /** How far the cluster has come: its version now, and its mark. */
    async readAge(clusterId: string, signal: AbortSignal) {
      const select = { namespace: AGENT_NAMESPACE, fieldSelector: `metadata.name=${MARK_NAME}` }
      const { items, resourceVersion } = await client.list(CONFIG_MAPS, select, signal)
      const text = items[0]?.data?.['state']
      return { version: resourceVersion, mark: text === undefined ? undefined : markOf(text, clusterId) }
    },
    /** What was read and written is not known any more: the cluster is another one. */
    forget(): void {
      versions.clear()
      written.clear()
      frozenVersions.clear()
      seenPages = { names: new Set(), areAll: false }
    },
    /** The newest document ever accepted on this cluster by the agent with this id. */
    async readMark(clusterId: string, signal: AbortSignal): Promise<AcceptedDocument | undefined> {
      const text = await read(MARK_NAME, signal)
      if (text === undefined) return undefined
      return markOf(text, clusterId)
    },
    writeMark: (clusterId: string, { epoch, revision, digest }: AcceptedDocument) =>
      write(MARK_NAME, 'mark', { state: JSON.stringify({ clusterId, epoch, revision, digest }) }),
  }
}

function markOf(text: string, clusterId: string): AcceptedDocument | undefined {
  const mark = parseJson(MarkSchema, utf8(text), { what: 'high-water mark', maxBytes: LIMIT })
  // The cluster joined again as another one: a new chain begins.
  return mark.clusterId === clusterId ? { epoch: mark.epoch, revision: mark.revision, digest: mark.digest } : undefined
}

/** The agent's state in the cluster. */
export type ClusterState = ReturnType<typeof createClusterState>

function parseHead(name: string, text: string): Static<typeof PagedSchema> | Inventory {
  const options = { what: `inventory ${name}`, maxBytes: LIMIT }
  return parseJson(Type.Union([PagedSchema, InventorySchema]), utf8(text), options)
}

/** The ConfigMap of a bundle's inventory. */
function inventoryName(bundle: string): string {
  return `flotilla-inventory-${hex(sha256(bundle)).slice(0, 16)}`
}

function frozenName(bundle: string): string {
  return `flotilla-frozen-${hex(sha256(bundle)).slice(0, 16)}`
}

function absent(caught: unknown): undefined {
  if (!isApiError(caught, 'NotFound')) throw caught
  return undefined
}

function pageNameOf(name: string, half: 'a' | 'b', page: number): string {
  return `${name}-${half}${page}`
}
