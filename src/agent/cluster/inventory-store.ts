// Tested by src/agent/cluster/cluster-state.contract.test.ts
/**
 * Inventories in the cluster: one ConfigMap for each bundle, and compressed pages for the objects of a large bundle.
 */
import { base64, fromBase64, fromUtf8, hex, sha256, unzstd, utf8, zstd } from '../../core/bytes.ts'
import { WireError } from '../../wire/validate.ts'
import type { AgentObjects } from './agent-objects.ts'
import { parseInventory, parsePage } from './inventory.ts'
import type { Inventory, InventoryObject, PagedInventory } from './inventory.ts'

// A ConfigMap holds a mebibyte. Larger inventories are compressed, in pages of a fixed number of objects.
const INLINE_CHARS = 128 * 1024
const PAGE_OBJECTS = 2500
const PAGE_BYTES = 64 * 1024 * 1024

type Pages = PagedInventory['pages']

/** How the objects of an inventory were last written. */
interface Written {
  readonly objects: readonly InventoryObject[]
  readonly pages?: Pages
}

/** Creates the store of inventories over the agent's ConfigMaps. */
export function createInventoryStore(objectsOfAgent: AgentObjects) {
  const pages = createPageStore(objectsOfAgent)
  const written = new Map<string, Written>()

  async function load(name: string, text: string, signal: AbortSignal): Promise<Inventory> {
    const head = parseInventory(name, text)
    if (!('pages' in head)) {
      written.set(head.bundle, { objects: head.objects })
      return head
    }
    const { pages: named, ...rest } = head
    const objects = await pages.read(name, named, signal)
    written.set(head.bundle, { objects, pages: named })
    return { ...rest, objects }
  }

  function writeHead(name: string, head: object): Promise<void> {
    return objectsOfAgent.write(name, 'inventory', { data: { state: JSON.stringify(head) } })
  }

  return {
    async readInventory(bundle: string, signal: AbortSignal): Promise<Inventory | undefined> {
      const name = inventoryName(bundle)
      const text = await objectsOfAgent.read(name, signal)
      return text === undefined ? undefined : load(name, text, signal)
    },
    /** Every inventory of the cluster, also of bundles that no document names any more. */
    async listInventories(signal: AbortSignal): Promise<Inventory[]> {
      const found: Inventory[] = []
      for await (const item of objectsOfAgent.list('inventory', signal)) {
        objectsOfAgent.noteVersion(item)
        const text = item.data?.['state']
        if (text !== undefined) found.push(await load(item.metadata.name, text, signal))
      }
      return found
    },
    /** Writes an inventory. The pages stay when `objects` is the same array as in the last write. */
    async writeInventory(inventory: Inventory): Promise<void> {
      const { bundle, objects, ...rest } = inventory
      const name = inventoryName(bundle)
      const before = written.get(bundle)
      if (before?.pages && before.objects === objects) {
        return writeHead(name, { bundle, ...rest, pages: before.pages })
      }
      const inline = JSON.stringify(inventory)
      if (inline.length <= INLINE_CHARS) {
        await objectsOfAgent.write(name, 'inventory', { data: { state: inline } })
        written.set(bundle, { objects })
      } else {
        const next = await pages.write(name, objects, before?.pages)
        await writeHead(name, { bundle, ...rest, pages: next })
        written.set(bundle, { objects, pages: next })
      }
      await pages.remove(name, before?.pages)
    },
    /** Deletes an inventory with all its pages, also pages that a crash has left. No head names a missing page. */
    async deleteInventory(bundle: string): Promise<void> {
      const name = inventoryName(bundle)
      const text = await objectsOfAgent.read(name)
      const head = text === undefined ? undefined : parseInventory(name, text)
      if (head && 'pages' in head) {
        const { pages: _pages, ...rest } = head
        await writeHead(name, { ...rest, objects: [] })
      }
      written.delete(bundle)
      await pages.removeAll(name)
      await objectsOfAgent.remove(name)
    },
    forget(): void {
      written.clear()
      pages.forget()
    },
  }
}

/** Pages of large inventories, in two halves: a write goes into the half that the head does not name. */
function createPageStore(objectsOfAgent: AgentObjects) {
  /** Names of pages that may exist. After a list the names are complete, because only this agent creates pages. */
  let known = { names: new Set<string>(), isComplete: false }

  async function removeOne(name: string): Promise<void> {
    await objectsOfAgent.remove(name)
    known.names.delete(name)
  }

  return {
    async read(name: string, { half, count }: Pages, signal: AbortSignal): Promise<InventoryObject[]> {
      const objects: InventoryObject[] = []
      for (let page = 0; page < count; page++) {
        const pageName = `${name}-${half}${page}`
        const found = await objectsOfAgent.find(pageName, signal)
        const packed = found?.binaryData?.['objects']
        if (packed === undefined) throw new WireError('Malformed', `inventory page ${pageName} is missing`)
        objects.push(...parsePage(pageName, fromUtf8(unzstd(fromBase64(packed), PAGE_BYTES))))
      }
      return objects
    },
    async write(name: string, objects: readonly InventoryObject[], before: Pages | undefined): Promise<Pages> {
      const half = before?.half === 'a' ? 'b' : 'a'
      const count = Math.ceil(objects.length / PAGE_OBJECTS)
      for (let page = 0; page < count; page++) {
        const pageName = `${name}-${half}${page}`
        const packed = zstd(utf8(JSON.stringify(objects.slice(page * PAGE_OBJECTS, (page + 1) * PAGE_OBJECTS))))
        const left = await objectsOfAgent.find(pageName)
        if (left) objectsOfAgent.noteVersion(left)
        known.names.add(pageName)
        await objectsOfAgent.write(pageName, 'page', { binaryData: { objects: base64(packed) } })
        objectsOfAgent.dropVersion(pageName)
      }
      return { half, count }
    },
    async remove(name: string, pages: Pages | undefined): Promise<void> {
      for (let page = 0; page < (pages?.count ?? 0); page++) await removeOne(`${name}-${pages!.half}${page}`)
    },
    /** Removes all pages of a bundle, also pages that a crash has left. */
    async removeAll(name: string): Promise<void> {
      const pages = known
      if (!pages.isComplete) {
        for await (const { metadata } of objectsOfAgent.list('page')) pages.names.add(metadata.name)
        pages.isComplete = true
      }
      for (const page of [...pages.names].filter((other) => other.startsWith(`${name}-`))) await removeOne(page)
    },
    forget(): void {
      known = { names: new Set(), isComplete: false }
    },
  }
}

/** The ConfigMap of a bundle's inventory. */
function inventoryName(bundle: string): string {
  return `flotilla-inventory-${hex(sha256(bundle)).slice(0, 16)}`
}
