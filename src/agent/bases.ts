/** Which set of each bundle is wholly here, and the document that named it: the base of the next difference. */
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { utf8 } from '../core/bytes.ts'
import type { Digest } from '../core/digest.ts'
import { jsonEqual } from '../core/json.ts'
import { LIMITS } from '../wire/limits.ts'
import { parseJson } from '../wire/validate.ts'
import { AGENT_FILES } from './storage.ts'
import type { AgentStorage } from './storage.ts'

const DigestText = Type.Unsafe<Digest>({ type: 'string', pattern: '^sha256:[0-9a-f]{64}$' })
const Base = Type.Object({ set: DigestText, held: DigestText })
/** A set, and a document of this cluster that names it. */
export type Base = Static<typeof Base>

const File = Type.Unsafe<Record<string, Base>>({ type: 'object', additionalProperties: Base })

/** Reads and notes bases. */
export interface Bases {
  of(bundle: string): Promise<Base | undefined>
  note(bundle: string, base: Base): Promise<void>
}

/** Bases in a file; losing it costs one whole transfer. */
export function createBases(storage: AgentStorage): Bases {
  let loaded: Map<string, Base> | undefined

  async function load(): Promise<Map<string, Base>> {
    if (loaded) return loaded
    const bytes = await storage.read(AGENT_FILES.bases)
    let found: Record<string, Base> = {}
    try {
      if (bytes) found = parseJson(File, bytes, { what: AGENT_FILES.bases, maxBytes: 1024 * 1024 })
    } catch {
      // A file of another version, or half of one: differences begin anew.
    }
    return (loaded = new Map(Object.entries(found)))
  }

  return {
    of: async (bundle) => (await load()).get(bundle),
    async note(bundle, base) {
      const bases = await load()
      if (jsonEqual(bases.get(bundle), base)) return
      // The newest last, and no more than a document can name.
      bases.delete(bundle)
      bases.set(bundle, base)
      for (const oldest of [...bases.keys()].slice(0, -LIMITS.bundles)) bases.delete(oldest)
      await storage.write(AGENT_FILES.bases, utf8(JSON.stringify(Object.fromEntries(bases))))
    },
  }
}
