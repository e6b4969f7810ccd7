import assert from 'node:assert/strict'
import { createUndiciTransport } from '../../client/undici-transport.ts'
import { Secret } from '../../core/secret.ts'
import { toCrd } from '../../kinds/crd/to-crd.ts'
import { NATIVE_KINDS } from '../../kinds/native/native-kinds.ts'
import { Gadget } from '../../testing/api-contract/harness.ts'
import { apiContract } from '../../testing/api-contract/api-contract.ts'
import { startControlPlane } from '../../testing/control-plane/control-plane.ts'

apiContract(
  'a real kube-apiserver',
  async () => {
    const plane = await startControlPlane()
    const kinds = [...NATIVE_KINDS, Gadget]
    for (const kind of kinds) {
      const reply = await plane.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', toCrd(kind))
      assert.equal(reply.status, 201, reply.text)
    }
    for (const kind of kinds) {
      const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${kind.plural}.${kind.group}`
      const deadline = performance.now() + 60_000
      for (;;) {
        const { text } = await plane.call('GET', path)
        const crd = JSON.parse(text) as { status?: { conditions?: { type: string; status: string }[] } }
        if (crd.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True')) break
        assert.ok(performance.now() < deadline, `${kind.kind} was not established`)
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }
    const { transport, close } = createUndiciTransport({
      server: plane.url,
      ca: plane.ca,
      cert: plane.adminCert,
      key: new Secret(plane.adminKey),
    })
    return {
      transport,
      async cleanup() {
        await close()
        await plane.stop()
      },
    }
  },
  {
    'an aggregating role follows the roles it selects':
      'done by the controller manager, which this control plane lacks',
  },
)
