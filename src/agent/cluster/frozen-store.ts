/**
 * Random values that charts drew when the agent rendered them, and must draw again. In a Secret: passwords are among
 * them.
 */
import type { Static } from 'typebox'
import type { Client } from '../../client/client.ts'
import { base64, fromBase64, hex, sha256, unzstd, utf8, zstd } from '../../core/bytes.ts'
import { Type } from '../../core/schema/typebox.ts'
import type { ResourceType } from '../../kinds/meta.ts'
import { parseJson } from '../../wire/validate.ts'
import {
  AGENT_NAMESPACE,
  CONFIG_MAPS,
  createInNamespace,
  ignoreNotFound,
  MANAGED_BY,
  ROLE_LABEL,
} from './agent-objects.ts'
import type { ConfigMap } from './agent-objects.ts'

const SECRETS: ResourceType<ConfigMap> = { ...CONFIG_MAPS, kind: 'Secret', plural: 'secrets' }
const MAX_BYTES = 64 * 1024 * 1024

const FrozenSchema = Type.Object({
  /** Key of the marks of objects, base64: without the key, a reader of a mark cannot test guesses against it. */
  key: Type.String({ minLength: 40, maxLength: 64 }),
  /** What charts drew (render/helm/frozen-random.ts). */
  drawn: Type.Unsafe<Record<string, unknown>>({ type: 'object' }),
})

/** What rendering in the cluster must remember of a bundle. */
export type FrozenState = Static<typeof FrozenSchema>

/** Creates the store of frozen values. */
export function createFrozenStore(client: Client) {
  const versions = new Map<string, ConfigMap['metadata']>()
  return {
    async readFrozen(bundle: string, signal: AbortSignal): Promise<FrozenState | undefined> {
      const name = frozenName(bundle)
      const found = await client.get(SECRETS, { namespace: AGENT_NAMESPACE, name }, signal).catch(ignoreNotFound)
      const packed = found?.data?.['state']
      if (!found || packed === undefined) return undefined
      versions.set(bundle, found.metadata)
      return parseJson(FrozenSchema, unzstd(fromBase64(packed), MAX_BYTES), {
        what: `Secret ${AGENT_NAMESPACE}/${name}`,
        maxBytes: MAX_BYTES,
      })
    },
    async writeFrozen(bundle: string, frozen: FrozenState): Promise<void> {
      const labels = { ...MANAGED_BY, [ROLE_LABEL]: 'frozen' }
      const before = versions.get(bundle)
      const metadata = before ? { ...before, labels } : { name: frozenName(bundle), namespace: AGENT_NAMESPACE, labels }
      const data = { state: base64(zstd(utf8(JSON.stringify(frozen)))) }
      const secret = { apiVersion: 'v1', kind: 'Secret', metadata, data }
      versions.delete(bundle)
      const answer = await (before ? client.update(SECRETS, secret) : createInNamespace(client, SECRETS, secret))
      versions.set(bundle, answer.metadata)
    },
    async deleteFrozen(bundle: string): Promise<void> {
      versions.delete(bundle)
      await client.delete(SECRETS, { namespace: AGENT_NAMESPACE, name: frozenName(bundle) }).catch(ignoreNotFound)
    },
    forget: () => versions.clear(),
  }
}

function frozenName(bundle: string): string {
  return `flotilla-frozen-${hex(sha256(bundle)).slice(0, 16)}`
}
