// Tested by src/dialects/fleet/controllers/registration.sim.test.ts
import { findObject } from '../../../client/find-object.ts'
import { isDigest } from '../../../core/crypto/digest.ts'
import { isApiError } from '../../../core/errors.ts'
import { createController } from '../../../engine/controller.ts'
import type { Controller } from '../../../engine/controller.ts'
import { triggerOn } from '../../../engine/trigger.ts'
import { ConfigMap, Secret } from '../../../kinds/builtin/core.ts'
import { keyOf } from '../../../kinds/meta.ts'
import { JoinToken } from '../../../kinds/native/join-token.ts'
import { ClusterRegistration, ClusterRegistrationToken } from '../registration-kinds.ts'
import { clusterRegistrationReconciler } from './cluster-registration.ts'
import type { FleetParts } from './fleet-controllers.ts'
import { registrationTokenReconciler } from './registration-token.ts'

const MANAGER = 'dialect-fleet'
/** Where the hub publishes how agents reach it. */
const HUB_INFO = { namespace: 'flotilla-system', name: 'flotilla-hub' }

/** Creates the controllers of registrations. */
export function createRegistration(parts: FleetParts): readonly Controller[] {
  const { informers } = parts
  const { client } = informers
  const tokens = informers.of(ClusterRegistrationToken)
  const joinTokens = informers.of(JoinToken)
  const all = { ...parts, client }
  const ignoring = async (reason: 'NotFound' | 'AlreadyExists', write: Promise<unknown>): Promise<void> => {
    try {
      await write
    } catch (caught) {
      if (!isApiError(caught, reason)) throw caught
    }
  }
  return [
    createController({
      ...all,
      type: ClusterRegistrationToken,
      informer: tokens,
      reconciler: registrationTokenReconciler({
        address: async (signal) => {
          const { data = {} } = (await findObject(client, ConfigMap, HUB_INFO, signal)) ?? {}
          const endpoints = (data['endpoints'] ?? '').split('\n').filter((line) => line !== '')
          const root = data['root']
          return endpoints.length > 0 && isDigest(root) ? { endpoints, root } : undefined
        },
        secret: (namespace, name, signal) => findObject(client, Secret, { namespace, name }, signal),
        createSecret: async (secret, signal) =>
          void (await client.create(Secret, secret, { fieldManager: MANAGER, signal })),
        joinToken: (name) => joinTokens.lister.get(name),
        createJoinToken: (token, signal) =>
          ignoring('AlreadyExists', client.create(JoinToken, token, { fieldManager: MANAGER, signal })),
        removeJoinToken: (name, signal) => ignoring('NotFound', client.delete(JoinToken, { name }, { signal })),
        remove: ({ metadata: { name, namespace = '' } }, signal) =>
          ignoring('NotFound', client.delete(ClusterRegistrationToken, { name, namespace }, { signal })),
      }),
      triggers: [
        // A JoinToken that a person deletes is made again; deleting the ClusterRegistrationToken ends it.
        triggerOn(joinTokens, ({ after }) => (after ? [] : tokens.lister.list().map(keyOf))),
      ],
    }),
    createController({
      ...all,
      type: ClusterRegistration,
      informer: informers.of(ClusterRegistration),
      reconciler: clusterRegistrationReconciler(),
    }),
  ]
}
