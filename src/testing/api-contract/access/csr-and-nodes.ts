import assert from 'node:assert/strict'
import type { ApiCase } from '../harness.ts'
import { as } from './rbac.ts'
import { REQUEST } from '../builtin/builtin-examples.ts'

/** What those who register themselves may say about themselves, on both homes. */

const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
const NODES = '/api/v1/nodes'

/** Certificate requests and nodes. */
export const REGISTERED_CASES: readonly ApiCase[] = [
  {
    title: 'a certificate request names who made it, whatever its body claims, and keeps what was asked',
    async run(api) {
      const name = `${api.namespace}-request`
      const forged = { username: 'forged', uid: 'forged', groups: ['forged'], extra: { forged: ['yes'] } }
      const asked = { request: REQUEST, signerName: 'example.dev/any', usages: ['client auth'] }
      const body = {
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        metadata: { name },
        spec: { ...asked, ...forged },
      }
      const ann = as('ann', {
        'impersonate-group': 'system:masters',
        'impersonate-uid': 'u1',
        'impersonate-extra-project': 'p',
      })
      const created = await api.send('POST', REQUESTS, { body, headers: ann })
      assert.equal(created.status, 201, created.text)
      const groups = ['system:masters', 'system:authenticated']
      const spec = { ...asked, username: 'ann', uid: 'u1', groups, extra: { project: ['p'] } }
      assert.deepEqual(created.body.spec, spec)
      const other = { ...created.body, spec: { ...spec, ...forged, signerName: 'example.dev/other' } }
      const updated = await api.send('PUT', `${REQUESTS}/${name}`, { body: other })
      assert.equal(updated.status, 200, updated.text)
      assert.deepEqual(updated.body.spec, spec)
      await api.send('DELETE', `${REQUESTS}/${name}`)
      const again = await api.send('POST', REQUESTS, {
        body,
        headers: as('ben', { 'impersonate-group': 'system:masters' }),
      })
      assert.deepEqual(again.body.spec, { ...asked, username: 'ben', groups })
      await api.send('DELETE', `${REQUESTS}/${name}`)
    },
  },
  {
    title: 'a node that registers itself says at once what it has',
    async run(api) {
      const name = `${api.namespace}-node`
      const status = { capacity: { memory: '1Gi' } }
      const body = { apiVersion: 'v1', kind: 'Node', metadata: { name }, status }
      const created = await api.send('POST', `${NODES}?fieldManager=kubelet`, { body })
      assert.equal(created.status, 201, created.text)
      assert.deepEqual(created.body.status.capacity, status.capacity)
      // Who writes a status through the object itself does not own it.
      assert.equal(created.body.metadata.managedFields, undefined)
      await api.send('DELETE', `${NODES}/${name}`)
    },
  },
]
