/** A small map in a file of the agent, with a limited number of entries; the oldest entries are dropped. */
import type { Static, TSchema } from 'typebox'
import { utf8 } from '../../core/bytes.ts'
import { jsonEqual } from '../../core/json.ts'
import { Type } from '../../core/schema/typebox.ts'
import { parseJson } from '../../wire/validate.ts'
import type { AgentStorage } from './storage.ts'

/** A map whose changes are written to a file. */
export interface BoundedFileMap<T> {
  of(key: string): Promise<T | undefined>
  values(): Promise<T[]>
  note(key: string, value: T): Promise<void>
  /** Deletes all other keys. */
  keepOnly(keys: ReadonlySet<string>): Promise<void>
}

const MAX_BYTES = 4 * 1024 * 1024

/** Opens a map. A file that is not readable counts as empty: only values that can be found again belong into a map. */
export function createBoundedFileMap<S extends TSchema>(
  storage: AgentStorage,
  file: { readonly name: string; readonly value: S; readonly most: number },
): BoundedFileMap<Static<S>> {
  type Value = Static<S>
  const schema = Type.Unsafe<Record<string, Value>>({ type: 'object', additionalProperties: file.value })
  let loaded: Map<string, Value> | undefined

  async function load(): Promise<Map<string, Value>> {
    if (loaded) return loaded
    const bytes = await storage.read(file.name)
    let found: Record<string, Value> = {}
    try {
      if (bytes) found = parseJson(schema, bytes, { what: file.name, maxBytes: MAX_BYTES })
    } catch {
      // A file of another version, or a partial file: the map starts empty.
    }
    return (loaded = new Map(Object.entries(found)))
  }

  const save = (map: ReadonlyMap<string, Value>) =>
    storage.write(file.name, utf8(JSON.stringify(Object.fromEntries(map))))

  return {
    of: async (key) => (await load()).get(key),
    values: async () => [...(await load()).values()],
    async note(key, value) {
      const map = await load()
      if (jsonEqual(map.get(key), value)) return
      // The newest entry is the last.
      map.delete(key)
      map.set(key, value)
      for (const oldest of [...map.keys()].slice(0, -file.most)) map.delete(oldest)
      await save(map)
    },
    async keepOnly(keys) {
      const map = await load()
      const gone = [...map.keys()].filter((key) => !keys.has(key))
      if (gone.length === 0) return
      for (const key of gone) map.delete(key)
      await save(map)
    },
  }
}
