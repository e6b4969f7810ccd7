/**
 * What ignored fields mean on a cluster, whatever the cluster is made of: others keep them, and everything else stays
 * the bundle's.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { compact } from '../../core/compact.ts'
import type { Client } from '../../client/client.ts'
import { Deployment } from '../../kinds/builtin/apps.ts'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { OperatingAgent } from './operating-agent.ts'
import { deployment } from '../hub/test-hub.ts'

/** An agent on a cluster. */
export interface IgnoringSite {
  readonly agent: OperatingAgent
  /** The client of other writers. */
  readonly client: Client
  until(what: string, holds: () => boolean | Promise<boolean>): Promise<void>
  /** Long enough for an agent that would change something back to do it. */
  rest(): Promise<void>
}

// No kubelet runs the pods, and their health is not tested here.
const UNWATCHED = { health: [{ kind: 'Deployment', ignore: true }] }
const IMAGE = '.spec.template.spec.containers[?(@.name=="main")].image'

interface Wanted {
  readonly generation: number
  readonly image: string
  readonly replicas?: number
  readonly annotations?: Record<string, string>
}

function objectOf(name: string, { image, replicas, annotations = {} }: Wanted): UnknownObject {
  const object = deployment(name, image)
  const { replicas: _one, ...spec } = object['spec'] as Record<string, unknown>
  const metadata = { ...object.metadata, annotations }
  return { ...object, metadata, spec: compact({ ...spec, replicas }) }
}

/** Runs the suite; each case has an object of its own. */
export function ignoredFieldsContract(site: () => IgnoringSite): void {
  const assigned: Record<string, Parameters<OperatingAgent['assign']>[0][string]> = {}

  function caseOf(name: string, options: BundleOptions = {}) {
    const key = { namespace: 'default', name }
    const bundle = `default/${name}`
    const row = () => site().agent.row(bundle)
    return {
      row,
      async applied(wanted: Wanted): Promise<void> {
        const objects = [objectOf(name, wanted)]
        assigned[bundle] = { generation: wanted.generation, objects, options: { ...UNWATCHED, ...options } }
        await site().agent.assign(assigned)
        const isThere = () => row()?.state === 'Ready' && row()?.generation === wanted.generation
        await site().until(`${name} at ${wanted.generation}, which is ${JSON.stringify(row())}`, isThere)
      },
      edit: (body: object, fieldManager: string) =>
        site().client.patch(Deployment, key, { type: 'strategic', body }, { fieldManager }),
      scale: (replicas: number, fieldManager: string) =>
        site().client.patch(
          Deployment,
          key,
          { type: 'merge', body: { spec: { replicas } } },
          { fieldManager, subresource: 'scale' },
        ),
      async now() {
        const { spec, metadata } = await site().client.get(Deployment, key)
        const images = (spec?.template?.spec?.containers ?? []).map((one) => `${one.name}=${one.image ?? ''}`)
        return {
          replicas: spec?.replicas,
          images,
          managed: metadata.labels?.['flotilla.dev/managed'],
          annotations: metadata.annotations,
        }
      },
    }
  }
  const container = (name: string, image: string) => ({ name, image })
  const podOf = (...containers: object[]) => ({ spec: { template: { spec: { containers } } } })
  // The writer of a list decides its order.
  const inFront = (first: object, ...names: string[]) => ({
    spec: {
      template: { spec: { containers: [first], '$setElementOrder/containers': names.map((name) => ({ name })) } },
    },
  })

  it('by expression: the owner of the image of one container keeps it, at any position in the list', async () => {
    const it = caseOf('by-path', { ignore: [{ kind: 'Deployment', paths: [IMAGE] }] })
    await it.applied({ generation: 1, image: 'web:1', replicas: 1 })
    await it.edit(inFront(container('proxy', 'proxy:1'), 'proxy', 'main'), 'injector')
    await it.edit(podOf(container('main', 'web:9')), 'updater')
    await site().rest()
    assert.deepEqual((await it.now()).images, ['proxy=proxy:1', 'main=web:9'])
    assert.equal(it.row()?.state, 'Ready')
    await it.applied({ generation: 2, image: 'web:2', replicas: 3 })
    const { images, replicas } = await it.now()
    assert.deepEqual([images, replicas], [['proxy=proxy:1', 'main=web:9'], 3])
  })

  it('by expression: a field without another owner keeps the value it was created with', async () => {
    const it = caseOf('by-path-alone', { ignore: [{ paths: ['.spec.template.spec.containers[*].image'] }] })
    await it.applied({ generation: 1, image: 'web:1', replicas: 1 })
    await it.applied({ generation: 2, image: 'web:2', replicas: 2 })
    assert.deepEqual(await it.now().then(({ images, replicas }) => [images, replicas]), [['main=web:1'], 2])
    await it.edit(inFront(container('proxy', 'proxy:1'), 'proxy', 'main'), 'injector')
    await it.applied({ generation: 3, image: 'web:3', replicas: 3 })
    const { images, replicas } = await it.now()
    assert.deepEqual([images, replicas], [['proxy=proxy:1', 'main=web:1'], 3])
  })

  it('by manager: what it has is left to it, what others change is changed back', async () => {
    const it = caseOf('by-manager', { ignore: [{ kind: 'Deployment', managers: ['hpa', 'updater'] }] })
    await it.applied({ generation: 1, image: 'web:1', replicas: 1 })
    await it.scale(5, 'hpa')
    await it.edit(podOf(container('main', 'web:666')), 'intruder')
    await site().until('what the intruder changed is back', async () => (await it.now()).images[0] === 'main=web:1')
    assert.equal((await it.now()).replicas, 5)
    await it.edit(podOf(container('main', 'web:9')), 'updater')
    await site().rest()
    assert.deepEqual(await it.now().then(({ images, replicas }) => [images, replicas]), [['main=web:9'], 5])
    assert.equal(it.row()?.state, 'Ready')
    // Taken from the one who may have it: the next revision puts it back.
    await it.edit(podOf(container('main', 'web:666')), 'intruder')
    await it.applied({ generation: 2, image: 'web:2', replicas: 2 })
    assert.deepEqual(await it.now().then(({ images, replicas }) => [images, replicas]), [['main=web:2'], 5])
  })

  it('by annotation: of one object, by expression and by manager', async () => {
    const it = caseOf('by-annotation', { drift: { mode: 'Report' } })
    const annotations = { 'flotilla.dev/ignore': `${IMAGE.replace('==', ' == ')} manager:hpa` }
    await it.applied({ generation: 1, image: 'web:1', replicas: 1, annotations })
    await it.scale(6, 'intruder')
    await site().until('drift', () => it.row()?.state === 'Drifted')
    assert.match(it.row()?.message ?? '', /: \.spec\.replicas \(changed by intruder\)$/)
    await it.scale(4, 'hpa')
    await it.edit(podOf(container('main', 'web:9')), 'updater')
    await site().until('what is ignored is no drift', () => it.row()?.state === 'Ready')
    await site().rest()
    assert.deepEqual(await it.now().then(({ images, replicas }) => [images, replicas]), [['main=web:9'], 4])
  })

  it('by pointer: what the next revision does not name any more stays as it is', async () => {
    const it = caseOf('by-pointer', { ignore: [{ pointers: ['/spec/replicas'] }] })
    await it.applied({ generation: 1, image: 'web:1', replicas: 4 })
    await it.applied({ generation: 2, image: 'web:2' })
    assert.deepEqual(await it.now().then(({ images, replicas }) => [images, replicas]), [['main=web:2'], 4])
  })

  it('by pointer: a map is left to others, and the object is still watched', async () => {
    const it = caseOf('by-map', { ignore: [{ pointers: ['/metadata/annotations', '/metadata/labels'] }] })
    await it.applied({ generation: 1, image: 'web:1', replicas: 1, annotations: { team: 'a' } })
    await it.edit({ metadata: { annotations: { theirs: '1' }, labels: { theirs: '1' } } }, 'intruder')
    await site().rest()
    await it.applied({ generation: 2, image: 'web:2', replicas: 1, annotations: { team: 'b' } })
    const { annotations, managed } = await it.now()
    assert.deepEqual([annotations?.['team'], annotations?.['theirs'], managed], ['a', '1', 'true'])
  })

  it('where the whole object is replaced: by pointer and by manager, too', async () => {
    const ignore = [{ pointers: ['/metadata/annotations'], managers: ['updater'] }]
    const it = caseOf('by-replace', { ignore, apply: { method: 'Replace' } })
    await it.applied({ generation: 1, image: 'web:1', replicas: 1 })
    await it.edit({ metadata: { annotations: { theirs: '1' } } }, 'intruder')
    await it.edit(podOf(container('main', 'web:9')), 'updater')
    await site().rest()
    await it.applied({ generation: 2, image: 'web:2', replicas: 2 })
    const { images, replicas, annotations } = await it.now()
    assert.deepEqual([images, replicas, annotations?.['theirs']], [['main=web:9'], 2, '1'])
  })
}
