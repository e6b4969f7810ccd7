import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createUndiciTransport } from '../../client/undici-transport.ts'
import { Secret } from '../../core/secret.ts'
import { toCrd } from '../../kinds/crd/to-crd.ts'
import { createSqliteStore } from '../../store/sqlite-store.ts'
import { Gadget } from './harness.ts'
import type { ApiUnderTest } from './api-contract.ts'
import { startApiHome } from '../control-plane/embedded-api.ts'
import type { ApiHomeOptions } from '../control-plane/embedded-api.ts'
import { startControlPlane } from '../control-plane/control-plane.ts'
import type { ControlPlane } from '../control-plane/control-plane.ts'

/** Homes for cases that need the controllers of a control plane, too. */

/** Our server over HTTPS and SQLite. */
export function openEmbeddedHome(): Promise<ApiUnderTest> {
  return embedded({ namespaceDefaults: true })
}

/** The same server without service accounts, and without the admission that requires them. */
export function openBareEmbeddedHome(): Promise<ApiUnderTest> {
  return embedded({ namespaceDefaults: false })
}

async function embedded(options: Pick<ApiHomeOptions, 'namespaceDefaults'>): Promise<ApiUnderTest> {
  const folder = await mkdtemp(join(tmpdir(), 'flotilla-api-'))
  const store = createSqliteStore({ path: join(folder, 'hub.db'), defer: setImmediate })
  const home = await startApiHome(store, options)
  const { transport, close } = createUndiciTransport({
    server: home.url,
    ca: home.ca,
    cert: home.admin.certificate,
    key: new Secret(home.admin.privateKey),
  })
  return {
    transport,
    async cleanup() {
      await close()
      await home.close()
      await rm(folder, { recursive: true })
    },
  }
}

/** A real kube-apiserver with its controller manager, and the Gadget kind. */
export async function openControlPlaneHome(): Promise<ApiUnderTest> {
  const plane = await startControlPlane({ controllers: true })
  const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const reply = await plane.call('POST', crds, toCrd(Gadget))
  assert.equal(reply.status, 201, reply.text)
  const deadline = performance.now() + 60_000
  while ((await plane.call('GET', '/apis/contract.flotilla.dev/v1/gadgets')).status !== 200) {
    assert.ok(performance.now() < deadline, 'Gadget was not served')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return connected(plane)
}

/** A real kube-apiserver without a controller manager. */
export async function openBareControlPlaneHome(): Promise<ApiUnderTest> {
  return connected(await startControlPlane())
}

function connected(plane: ControlPlane): ApiUnderTest {
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
}
