// Tested by src/dialects/ocm/addons/addons.sim.test.ts
/** The controllers of add-ons, over the hub's shared informers. */
import type { Informers } from '../../../client/informers.ts'
import { compact } from '../../../core/compact.ts'
import { isApiError } from '../../../core/errors.ts'
import type { Ids } from '../../../core/ids.ts'
import type { Logger } from '../../../core/log.ts'
import type { Metrics } from '../../../core/metrics.ts'
import type { Clock } from '../../../core/time/clock.ts'
import { formatTime } from '../../../core/time/time.ts'
import { createController } from '../../../engine/controller.ts'
import type { Controller } from '../../../engine/controller.ts'
import { triggerOn, triggerOnObject } from '../../../engine/trigger.ts'
import { keyOf } from '../../../kinds/meta.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import { ManagedCluster, OcmPlacement, OcmPlacementDecision } from '../kinds.ts'
import { isPageOf } from '../placement/read-objects.ts'
import { ManifestWork } from '../works/kinds.ts'
import { ADMITTED_ANNOTATION, ADMITTED_AT_ANNOTATION } from './addon-rollout.ts'
import { installReconciler } from './install-addon.ts'
import type { InstallPorts } from './install-addon.ts'
import { entriesByCluster } from './install-entries.ts'
import { AddOnDeploymentConfig, AddOnTemplate, ClusterManagementAddOn, ManagedClusterAddOn } from './kinds.ts'
import { managedAddonReconciler } from './managed-addon.ts'
import { deleteSame } from '../../../client/find-object.ts'

/** The parts of the controllers. */
export interface AddonParts {
  readonly informers: Informers
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  readonly metrics?: Metrics
}

const MANAGER = 'flotilla-ocm'
/** Longest time for which a cache is waited for; a user can have removed the annotation meanwhile. */
const BEHIND_MS = 60_000
const BY_NAME = 'ocm-addon'

/** Creates the controllers; nothing happens before `run`. */
export function createAddonControllers(parts: AddonParts): readonly Controller[] {
  const { informers } = parts
  const { client } = informers
  const addons = informers.of(ClusterManagementAddOn)
  const installed = informers.of(ManagedClusterAddOn)
  const templates = informers.of(AddOnTemplate)
  const configs = informers.of(AddOnDeploymentConfig)
  const placements = informers.of(OcmPlacement)
  const pages = informers.of(OcmPlacementDecision)
  const faces = informers.of(ManagedCluster)
  const works = informers.of(ManifestWork)
  installed.addIndex(BY_NAME, ({ metadata }) => [metadata.name])
  const write = (signal: AbortSignal) => ({ fieldManager: MANAGER, signal })
  const places = {
    placementOf: (namespace: string, name: string) => placements.lister.get(`${namespace}/${name}`),
    pagesOf: (placement: OcmPlacement) =>
      pages.lister.list(placement.metadata.namespace).filter((page) => isPageOf(page, placement)),
  }
  const configured = {
    templateOf: (name: string) => templates.lister.get(name),
    configOf: (namespace: string, name: string) => configs.lister.get(`${namespace}/${name}`),
  }
  const admissions = createAdmissions(parts, informers)
  const everyAddon = () => addons.lister.list().map(keyOf)
  const everyInstalled = () => installed.lister.list().map(keyOf)
  const installedOf = ({ metadata }: KubeObject) => installed.lister.by(BY_NAME, metadata.name).map(keyOf)
  const all = { ...parts, client, failureCondition: false as const, notesGeneration: false }
  return [
    createController({
      ...all,
      type: ClusterManagementAddOn,
      informer: addons,
      reconciler: installReconciler({
        ...places,
        ...configured,
        faceOf: (cluster) => faces.lister.get(cluster),
        installed: (addon) => installed.lister.by(BY_NAME, addon),
        create: async (addon, signal) => {
          try {
            await client.create(ManagedClusterAddOn, addon, write(signal))
          } catch (caught) {
            if (!isApiError(caught, 'AlreadyExists')) throw caught
          }
        },
        remove: (addon, signal) => deleteSame(client, ManagedClusterAddOn, addon, signal),
        ...admissions,
      }),
      triggers: [
        triggerOn(pages, everyAddon),
        triggerOn(faces, ({ before, after }) =>
          before?.spec.hubAcceptsClient === after?.spec.hubAcceptsClient && Boolean(before) === Boolean(after)
            ? []
            : everyAddon(),
        ),
        triggerOnObject(installed, ({ metadata }) => [metadata.name]),
        triggerOn(templates, ({ before, after }) => (isSameSpec(before, after) ? [] : everyAddon())),
        triggerOn(configs, ({ before, after }) => (isSameSpec(before, after) ? [] : everyAddon())),
      ],
    }),
    createController({
      ...all,
      type: ManagedClusterAddOn,
      informer: installed,
      reconciler: managedAddonReconciler({
        addonOf: (name) => addons.lister.get(name),
        entriesOf: (addon) => entriesByCluster(addon, places),
        faceOf: (cluster) => faces.lister.get(cluster),
        ...configured,
        workOf: (namespace, name) => works.lister.get(`${namespace}/${name}`),
        applyWork: async (work, signal) => {
          await client.apply(ManifestWork, work, { ...write(signal), force: true })
        },
      }),
      triggers: [
        triggerOnObject(addons, installedOf),
        triggerOn(templates, ({ before, after }) => (isSameSpec(before, after) ? [] : everyInstalled())),
        triggerOn(configs, ({ before, after }) => (isSameSpec(before, after) ? [] : everyInstalled())),
        triggerOnObject(works, (work) => ownerOf(work)),
      ],
    }),
  ]
}

/** Admissions as annotations; one that the cache does not show yet must not be decided a second time. */
function createAdmissions({ clock }: AddonParts, informers: Informers): Pick<InstallPorts, 'admit' | 'isBehind'> {
  const installed = informers.of(ManagedClusterAddOn)
  const written = new Map<string, { readonly uid: string | undefined; readonly digest: string; readonly at: number }>()
  return {
    admit: async (addon, digest, signal) => {
      const { name, namespace = '', uid } = addon.metadata
      const annotations = { [ADMITTED_ANNOTATION]: digest, [ADMITTED_AT_ANNOTATION]: formatTime(clock.now()) }
      const body = { metadata: { ...compact({ uid }), annotations } }
      try {
        const options = { fieldManager: MANAGER, signal }
        await informers.client.patch(ManagedClusterAddOn, { name, namespace }, { type: 'merge', body }, options)
      } catch (caught) {
        if (isApiError(caught, 'NotFound', 'Conflict')) return
        throw caught
      }
      written.set(keyOf(addon), { uid, digest, at: clock.now() })
    },
    isBehind: (addon) => {
      for (const [key, { uid, digest, at }] of written) {
        if (key.slice(key.indexOf('/') + 1) !== addon) continue
        const { metadata } = installed.lister.get(key) ?? {}
        const isBefore = metadata?.uid === uid && metadata?.annotations?.[ADMITTED_ANNOTATION] !== digest
        if (metadata && isBefore && clock.now() < at + BEHIND_MS) return true
        written.delete(key)
      }
      return false
    },
  }
}

function isSameSpec(before: KubeObject | undefined, after: KubeObject | undefined): boolean {
  return before?.metadata.generation === after?.metadata.generation && before?.metadata.uid === after?.metadata.uid
}

function ownerOf({ metadata }: KubeObject): string[] {
  const owner = (metadata.ownerReferences ?? []).find(({ kind }) => kind === ManagedClusterAddOn.kind)
  return owner ? [`${metadata.namespace ?? ''}/${owner.name}`] : []
}
