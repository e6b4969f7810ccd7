import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { itemsAt, textAt } from '../../kinds/builtin/read-path.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { Mutation } from '../server/admission.ts'
import type { ServerParts } from '../server/context.ts'
import { readObject } from '../storage/stored-object.ts'
import { forbidden } from '../http/api-errors.ts'

/** The service account of a pod, and the token volume it gets. */

const DEFAULT = 'default'
const VOLUME_PREFIX = 'kube-api-access-'
const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount'
const MIRROR = 'kubernetes.io/config.mirror'
/** A pod may be created right after its namespace, before the namespace has its service account. */
const TRIES = 10
const RETRY_MS = 100

/** The volume with a token, the API's certificate and the namespace. */
function tokenVolume(name: string): JsonObject {
  const namespace = { path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }
  return {
    name,
    projected: {
      defaultMode: 0o644,
      sources: [
        { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        { downwardAPI: { items: [namespace] } },
      ],
    },
  }
}

/**
 * Adds the account's pull secrets to a pod without pull secrets, and a token unless the pod or the account opts out.
 */
function applyServiceAccount(spec: JsonObject, account: UnknownObject, suffix: () => string): void {
  const pull = itemsAt(account, 'imagePullSecrets')
  if (itemsAt(spec, 'imagePullSecrets').length === 0 && pull.length > 0) {
    spec['imagePullSecrets'] = pull.map((secret) => ({ name: textAt(secret, 'name') }))
  }
  if ((spec['automountServiceAccountToken'] ?? account['automountServiceAccountToken']) === false) return
  const volumes = itemsAt(spec, 'volumes')
  const present = volumes.map((volume) => textAt(volume, 'name')).find((name) => name.startsWith(VOLUME_PREFIX))
  const name = present ?? `${VOLUME_PREFIX}${suffix()}`
  const bare = [...itemsAt(spec, 'initContainers'), ...itemsAt(spec, 'containers')].filter(
    (container) => !itemsAt(container, 'volumeMounts').some((mount) => mount['mountPath'] === MOUNT_PATH),
  )
  for (const container of bare) {
    const mount = { name, readOnly: true, mountPath: MOUNT_PATH }
    container['volumeMounts'] = [...itemsAt(container, 'volumeMounts'), mount]
  }
  if (present === undefined && bare.length > 0) spec['volumes'] = [...volumes, tokenVolume(name)]
}

/** Sets the service account of new pods. Refuses pods whose account does not exist. */
export function serviceAccountAdmission(parts: Pick<ServerParts, 'store' | 'registry' | 'clock' | 'ids'>): Mutation {
  const { store, registry, clock, ids } = parts
  return async ({ kind, operation, subresource, object }) => {
    if (operation !== 'CREATE' || subresource !== undefined || kind.group !== '' || kind.kind !== 'Pod') return []
    const accounts = registry.find('', 'v1', 'serviceaccounts')
    if (!accounts || !object || !isObject(object['spec'])) return []
    const { spec } = object
    const { namespace = '', annotations } = object.metadata
    const named = textAt(spec, 'serviceAccountName')
    if (annotations?.[MIRROR] !== undefined) {
      if (named !== '') throw forbidden(kind, object.metadata.name, 'a mirror pod may not reference service accounts')
      return []
    }
    const name = named || DEFAULT
    for (let left = name === DEFAULT ? TRIES : 1; ;) {
      const stored = await readObject(store, accounts, { namespace, name })
      if (stored) {
        Object.assign(spec, { serviceAccountName: name, serviceAccount: name })
        applyServiceAccount(spec, stored.object, () => ids.suffix(5))
        return []
      }
      left -= 1
      if (left === 0) {
        const why = `error looking up service account ${namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`
        throw forbidden(kind, object.metadata.name, why)
      }
      await clock.sleep(RETRY_MS)
    }
  }
}
