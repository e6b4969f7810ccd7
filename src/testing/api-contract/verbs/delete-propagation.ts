import assert from 'node:assert/strict'
import { builtinKind } from '../../../kinds/builtin/kind-table.ts'
import { ConfigMap, Namespace } from '../../../kinds/builtin/core.ts'
import { configMap, gadget, Gadget } from '../harness.ts'
import type { Api, ApiCase, Loose } from '../harness.ts'

const Job = builtinKind('batch/v1', 'Job')
const OWN = 'contract.flotilla.dev/held'
/** What a delete may say about dependents: in the query or in the body, and the code for an object that stays. */
const WAYS: readonly (readonly [query: string, body: object | undefined, code: number, finalizers: string[]])[] = [
  ['', undefined, 200, [OWN]],
  ['?orphanDependents=false', undefined, 202, [OWN]],
  ['?orphanDependents=true', undefined, 200, [OWN, 'orphan']],
  ['?propagationPolicy=Background', undefined, 200, [OWN]],
  ['?propagationPolicy=Foreground', undefined, 200, [OWN, 'foregroundDeletion']],
  ['', { orphanDependents: false }, 202, [OWN]],
  ['', { orphanDependents: true }, 200, [OWN, 'orphan']],
  ['', { propagationPolicy: 'Background' }, 200, [OWN]],
  ['', { orphanDependents: false, dryRun: ['All'] }, 202, [OWN]],
]

const optionsOf = (body: object | undefined) =>
  body === undefined ? {} : { body: { apiVersion: 'v1', kind: 'DeleteOptions', ...body } }

async function makeHeld(api: Api, name: string): Promise<void> {
  const metadata = { name, finalizers: [OWN] }
  await api.ok('POST', api.path(ConfigMap), { ...configMap(name), metadata })
  await api.ok('POST', api.path(Gadget), { ...gadget(name), metadata })
}

/** Deletes that say what becomes of dependents by the old name, `orphanDependents`, or the new one. */
export const CASCADE_CASES: readonly ApiCase[] = [
  {
    title: 'an object that stays is 202 to orphanDependents=false and 200 to everything else',
    async run(api) {
      for (const [n, [query, body, code, finalizers]] of WAYS.entries()) {
        await makeHeld(api, `held-${n}`)
        for (const kind of [ConfigMap, Gadget]) {
          const reply = await api.send('DELETE', `${api.path(kind, `held-${n}`)}${query}`, optionsOf(body))
          const seen = [reply.status, reply.body.kind, reply.body.metadata.finalizers.toSorted()]
          assert.deepEqual(seen, [code, kind.kind, finalizers.toSorted()], `${query} ${JSON.stringify(body)}`)
        }
      }
    },
  },
  {
    title: 'an object that goes at once is 200 to orphanDependents=false',
    async run(api) {
      await api.ok('POST', api.path(ConfigMap), configMap('a'))
      const dry = await api.send('DELETE', `${api.path(ConfigMap, 'a')}?orphanDependents=false&dryRun=All`)
      const reply = await api.send('DELETE', `${api.path(ConfigMap, 'a')}?orphanDependents=false`)
      assert.deepEqual([dry.status, reply.status, reply.body.status], [200, 200, 'Success'])
    },
  },
  {
    title: 'a namespace waits for its dependents when orphanDependents is false',
    async run(api) {
      for (const [way, query, code] of [
        ['old', '?orphanDependents=false', 202],
        ['new', '?propagationPolicy=Background', 200],
      ] as const) {
        const name = `${api.namespace}-${way}`
        await api.ok('POST', api.path(Namespace), { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
        const reply = await api.send('DELETE', `${api.path(Namespace, name)}${query}`)
        assert.equal(reply.status, code, reply.text)
        assert.deepEqual(reply.body.metadata.finalizers, way === 'old' ? ['foregroundDeletion'] : undefined)
      }
    },
  },
  {
    title: 'a Job is told about its pods only when nothing was said about them',
    async run(api) {
      const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } }
      const warned: Loose = {}
      for (const [n, query] of ['', '?orphanDependents=false', '?propagationPolicy=Background'].entries()) {
        const metadata = { name: `job-${n}`, finalizers: [OWN] }
        await api.ok('POST', api.path(Job), { apiVersion: 'batch/v1', kind: 'Job', metadata, spec: { template } })
        const { headers, body } = await api.send('DELETE', `${api.path(Job, `job-${n}`)}${query}`)
        warned[query] = [headers['warning'] !== undefined, body.metadata.finalizers.includes('orphan')]
      }
      assert.deepEqual(warned, {
        '': [true, true],
        '?orphanDependents=false': [false, false],
        '?propagationPolicy=Background': [false, false],
      })
    },
  },
  {
    title: 'both names at once are refused',
    async run(api) {
      await api.ok('POST', api.path(ConfigMap), configMap('a'))
      const both = '?orphanDependents=false&propagationPolicy=Background'
      const reply = await api.send('DELETE', `${api.path(ConfigMap, 'a')}${both}`)
      assert.equal(reply.status, 422)
      assert.equal(
        reply.body.message,
        'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Invalid value: "Background": orphanDependents and deletionPropagation cannot be both set',
      )
    },
  },
]
