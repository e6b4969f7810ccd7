// Tested by src/dialects/ocm/addons/addons.sim.test.ts
/** The controllers of add-ons, over the hub's shared informers. */
import type { Informers } from '../../../client/informers.ts'
import { isApiError } from '../../../core/errors.ts'
import type { Ids } from '../../../core/ids.ts'
import type { Logger } from '../../../core/log.ts'
import type { Metrics } from '../../../core/metrics.ts'
import type { Clock } from '../../../core/time/clock.ts'
import { createController } from '../../../engine/controller.ts'
import type { Controller } from '../../../engine/controller.ts'
import { triggerOn, triggerOnObject } from '../../../engine/trigger.ts'
import { keyOf } from '../../../kinds/meta.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import { ManagedCluster, OcmPlacement, OcmPlacementDecision } from '../kinds.ts'
import { isPageOf } from '../placement/read-objects.ts'
import { ManifestWork } from '../works/kinds.ts'
import { entriesByCluster, installReconciler } from './install-addon.ts'
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
      }),
      triggers: [
        triggerOn(pages, everyAddon),
        triggerOn(faces, ({ before, after }) =>
          before?.spec.hubAcceptsClient === after?.spec.hubAcceptsClient && Boolean(before) === Boolean(after)
            ? []
            : everyAddon(),
        ),
        triggerOnObject(installed, ({ metadata }) => [metadata.name]),
      ],
    }),
    createController({
      ...all,
      type: ManagedClusterAddOn,
      informer: installed,
      reconciler: managedAddonReconciler({
        addonOf: (name) => addons.lister.get(name),
        entryOf: (addon, cluster) => entriesByCluster(addon, places)?.get(cluster),
        templateOf: (name) => templates.lister.get(name),
        configOf: (namespace, name) => configs.lister.get(`${namespace}/${name}`),
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

function isSameSpec(before: KubeObject | undefined, after: KubeObject | undefined): boolean {
  return before?.metadata.generation === after?.metadata.generation && before?.metadata.uid === after?.metadata.uid
}

function ownerOf({ metadata }: KubeObject): string[] {
  const owner = (metadata.ownerReferences ?? []).find(({ kind }) => kind === ManagedClusterAddOn.kind)
  return owner ? [`${metadata.namespace ?? ''}/${owner.name}`] : []
}
