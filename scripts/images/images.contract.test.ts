/**
 * Images: the same inputs give the same bytes, a registry gets them whole, each says what it contains, a signature
 * verifies, and the file systems run as the user of the image.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { zstdDecompressSync } from 'node:zlib'
import { VERSION } from '../../src/core/version.ts'
import { tarEntries } from '../../src/core/tar.ts'
import { ARCHITECTURES } from './downloads.ts'
import { layoutBlob, layoutEntries, layoutManifest, sha256 } from './oci.ts'
import type { Descriptor } from './oci.ts'
import { makeProgram } from './program.ts'
import { buildImages, IMAGES } from './recipes.ts'
import type { BuiltImage, Program } from './recipes.ts'
import { pushLayout } from './registry.ts'
import { startRegistry } from './registry.fixture.ts'
import { readSigningKey, SIGNATURE_ANNOTATION } from './signature.ts'

const MAX_AGENT_BYTES = 60_000_000
const USER = '65532:65532'

describe('the images', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'flotilla-images-'))
  const layout = join(scratch, 'layout')
  const keyFile = join(scratch, 'signing.pem')
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  let program: Program & { remove(): void }
  let built: BuiltImage[]
  after(() => rmSync(scratch, { recursive: true, force: true }))

  before(async () => {
    writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }))
    program = await makeProgram()
    const key = readSigningKey(keyFile)
    built = await buildImages(layout, { images: IMAGES, architectures: ARCHITECTURES, tag: 'test', program, key })
  })
  after(() => program.remove())

  const entryOf = (reference: string): Descriptor => {
    const found = layoutEntries(layout).find((entry) => entry.reference === reference)
    assert.ok(found, `${reference} is in the layout`)
    return found.descriptor
  }
  const platformsOf = (name: string): readonly Descriptor[] =>
    layoutManifest(layout, entryOf(`${name}:test`).digest).manifests ?? []

  test('are small enough to be pulled over a slow line', () => {
    const agent = built.find(({ name }) => name === 'flotilla-agent')!
    for (const [platform, bytes] of Object.entries(agent.sizes)) {
      assert.ok(bytes <= MAX_AGENT_BYTES, `${platform}: ${bytes} bytes`)
      assert.ok(bytes > 20_000_000, `${platform}: ${bytes} bytes are too few for Node`)
    }
  })

  test('have the same digests when they are built again from the same sources', async () => {
    const again = await makeProgram()
    try {
      const options = {
        images: ['flotilla-agent', 'flotilla-cli'] as const,
        architectures: ['amd64'] as const,
        tag: 'test',
      }
      const first = await buildImages(join(scratch, 'once'), { ...options, program })
      const second = await buildImages(join(scratch, 'twice'), { ...options, program: again })
      assert.deepEqual(second, first)
      assert.deepEqual(
        readdirSync(join(scratch, 'twice/blobs/sha256')),
        readdirSync(join(scratch, 'once/blobs/sha256')),
      )
    } finally {
      again.remove()
    }
  })

  test('run as an unprivileged user, and one index has all platforms', () => {
    for (const name of IMAGES) {
      const platforms = platformsOf(name)
      assert.deepEqual(
        platforms.map(({ platform }) => platform),
        ARCHITECTURES.map((architecture) => ({ os: 'linux', architecture })),
      )
      for (const { digest, platform } of platforms) {
        const { config, layers = [] } = layoutManifest(layout, digest)
        const image = JSON.parse(layoutBlob(layout, config!.digest).toString()) as {
          readonly architecture: string
          readonly config: { readonly User: string }
          readonly rootfs: { readonly diff_ids: readonly string[] }
        }
        assert.equal(image.architecture, platform!.architecture)
        assert.equal(image.config.User, USER)
        const tars = layers.map((layer) => zstdDecompressSync(layoutBlob(layout, layer.digest)))
        assert.deepEqual(
          image.rootfs.diff_ids,
          tars.map((tar) => `sha256:${sha256(tar)}`),
        )
      }
    }
  })

  test('have programs of their own processor: those of arm64 are inspected, not run', () => {
    const machines: Record<string, number> = { amd64: 62, arm64: 183 }
    for (const { digest, platform } of platformsOf('flotilla-hub')) {
      const tars = (layoutManifest(layout, digest).layers ?? []).map((layer) =>
        zstdDecompressSync(layoutBlob(layout, layer.digest)),
      )
      const files = new Map<string, Uint8Array>()
      for (const tar of tars) {
        for (const { name, type, data } of tarEntries(tar))
          if (type === '0') files.set(Buffer.from(name).toString(), data)
      }
      const programs = [...files].filter(([, data]) => Buffer.from(data.subarray(0, 4)).toString() === '\u007fELF')
      assert.ok(programs.length > 40, `${programs.length} programs and libraries`)
      for (const [path, data] of programs) {
        const machine = Buffer.from(data.buffer, data.byteOffset, 64).readUInt16LE(18)
        assert.equal(machine, machines[platform!.architecture], path)
      }
      for (const path of [
        'usr/bin/node',
        'usr/bin/git',
        'usr/bin/ssh',
        'opt/flotilla/hub.mjs',
        'opt/flotilla/console/index.html',
      ])
        assert.ok(files.has(path), `${platform!.architecture} has ${path}`)
      const certificates = Buffer.from(files.get('etc/ssl/certs/ca-certificates.crt')!).toString()
      assert.ok(certificates.split('-----BEGIN CERTIFICATE-----').length > 100)
    }
  })

  test('say what they contain in SPDX', () => {
    for (const { digest } of platformsOf('flotilla-agent')) {
      const manifest = layoutManifest(layout, entryOf(`flotilla-agent:${digest.replace(':', '-')}.sbom`).digest)
      assert.equal(manifest.subject?.digest, digest)
      const sbom = JSON.parse(layoutBlob(layout, manifest.layers![0]!.digest).toString()) as {
        readonly spdxVersion: string
        readonly packages: readonly { readonly name: string; readonly SPDXID: string }[]
        readonly relationships: readonly { readonly relatedSpdxElement: string }[]
      }
      assert.equal(sbom.spdxVersion, 'SPDX-2.3')
      const names = sbom.packages.map(({ name }) => name)
      for (const wanted of ['flotilla-agent', 'node', 'libc6', 'ca-certificates', 'undici'])
        assert.ok(names.includes(wanted), wanted)
      assert.ok(!names.includes('git') && !names.includes('openid-client'), 'nothing that only the hub has')
      const ids = sbom.packages.map(({ SPDXID }) => SPDXID)
      assert.equal(new Set(ids).size, ids.length)
      assert.deepEqual(
        sbom.relationships.map(({ relatedSpdxElement }) => relatedSpdxElement).toSorted(),
        ids.toSorted(),
      )
    }
  })

  test('carry a signature that the public key verifies, for the index and each platform', () => {
    const signed = [entryOf('flotilla-hub:test'), ...platformsOf('flotilla-hub')]
    assert.equal(signed.length, 3)
    for (const { digest } of signed) {
      const { layers = [] } = layoutManifest(layout, entryOf(`flotilla-hub:${digest.replace(':', '-')}.sig`).digest)
      const payload = layoutBlob(layout, layers[0]!.digest)
      const signature = Buffer.from(layers[0]!.annotations![SIGNATURE_ANNOTATION]!, 'base64')
      assert.ok(
        verify('sha256', payload, createPublicKey(publicKey.export({ type: 'spki', format: 'pem' })), signature),
      )
      assert.ok(!verify('sha256', Buffer.from(payload.toString().replace(digest, 'sha256:')), publicKey, signature))
      assert.match(payload.toString(), new RegExp(`"docker-manifest-digest":"${digest}"`))
    }
  })

  for (const scheme of ['none', 'basic', 'bearer'] as const) {
    test(`are pushed to a registry whole (authorization: ${scheme})`, async () => {
      await using registry = await startRegistry({ scheme, credentials: 'ci:secret' })
      const options = { target: `${registry.host}/platform`, isPlain: true, credentials: 'ci:secret' }
      const pushed = await pushLayout(layout, options)
      assert.equal(pushed.length, layoutEntries(layout).length)
      // The registry refuses a manifest whose blobs it does not have, and bytes of another digest.
      for (const name of IMAGES) {
        const digest = built.find((image) => image.name === name)!.digest
        assert.equal(registry.tag(`platform/${name}`, 'test'), digest)
      }
      const uploads = registry.uploads()
      await pushLayout(layout, options)
      assert.equal(registry.uploads(), uploads, 'a second push sends no blob again')
    })
  }

  test('are not pushed without credentials, and a wrong token realm gets none', async () => {
    await using registry = await startRegistry({ scheme: 'basic', credentials: 'ci:secret' })
    const target = `${registry.host}/platform`
    await assert.rejects(pushLayout(layout, { target, isPlain: true, credentials: 'ci:wrong' }), /HTTP 401/)
    await using foreign = await startRegistry({
      scheme: 'bearer',
      credentials: 'ci:secret',
      realm: 'http://127.0.0.1:1/token',
    })
    await assert.rejects(
      pushLayout(layout, { target: foreign.host, isPlain: true, credentials: 'ci:secret' }),
      /credentials are not sent without TLS/,
    )
  })

  test('a changed blob is not pushed', async () => {
    await using registry = await startRegistry({ scheme: 'none', credentials: '' })
    const copy = join(scratch, 'changed')
    await buildImages(copy, { images: ['flotilla-agent'], architectures: ['amd64'], tag: 'test', program })
    const [first] = readdirSync(join(copy, 'blobs/sha256')).filter(
      (name) => statSync(join(copy, 'blobs/sha256', name)).size > 1_000_000,
    )
    writeFileSync(join(copy, 'blobs/sha256', first!), 'changed')
    await assert.rejects(pushLayout(copy, { target: registry.host, isPlain: true }), /was changed/)
  })

  const isRoot = process.getuid?.() === 0 && process.platform === 'linux' && process.arch === 'x64'
  test('start on a read-only root as their user', { skip: isRoot ? false : 'needs root on Linux on x64' }, (t) => {
    const runIn = (name: string, ...command: string[]) => {
      const folder = join(scratch, 'root', name)
      if (!statSync(folder, { throwIfNoEntry: false })) {
        mkdirSync(folder, { recursive: true })
        const { layers = [] } = layoutManifest(layout, platformsOf(name)[0]!.digest)
        for (const { digest } of layers) {
          const unpacked = spawnSync('tar', ['--extract', '--preserve-permissions', '--directory', folder], {
            input: zstdDecompressSync(layoutBlob(layout, digest)),
          })
          assert.equal(unpacked.status, 0, String(unpacked.stderr))
        }
      }
      return readOnly(folder, command)
    }
    const node = runIn('flotilla-agent', '/usr/bin/node', '-p', 'process.getuid() + " " + process.version')
    assert.match(node.stdout, /^65532 v26\./, node.stderr)
    const agent = runIn('flotilla-agent', '/usr/bin/node', '/opt/flotilla/agent.mjs')
    assert.match(agent.stderr, /flotilla agent: --kubeconfig is required/)
    const cli = runIn('flotilla-cli', '/usr/bin/flotilla', '--version')
    assert.match(cli.stdout, new RegExp(VERSION.replaceAll('.', '\\.')), cli.stderr)
    const hub = runIn('flotilla-hub', '/usr/bin/flotilla', 'hub', 'run', '--data', '/data/hub', '--print-config')
    assert.match(hub.stdout, /^data +\/data\/hub/m, hub.stderr)
    assert.match(runIn('flotilla-hub', '/usr/bin/git', '--version').stdout, /^git version 2\./)
    assert.match(runIn('flotilla-hub', '/usr/lib/git-core/git-remote-https').stderr, /git-remote-https|usage|fatal/)
    assert.match(runIn('flotilla-hub', '/bin/sh', '-c', 'ssh -V').stderr, /^OpenSSH/)
    const write = runIn(
      'flotilla-agent',
      '/usr/bin/node',
      '-e',
      "require('node:fs').writeFileSync('/opt/flotilla/x', '')",
    )
    assert.match(write.stderr, /EROFS|EACCES/)
    t.diagnostic(`a write to the root file system ended with ${/E[A-Z]+/.exec(write.stderr)?.[0]}`)
  })
})

/** Runs a program with a folder as its read-only root, as the user of the images. */
function readOnly(folder: string, command: readonly string[]) {
  // Where mounts are refused, the owner of the files still keeps the user from writing.
  const script = `mount --bind "$0" "$0" && mount -t tmpfs tmpfs "$0/tmp" && mount --rbind /dev "$0/dev" && mount -o remount,ro,bind "$0" || true
exec chroot --userspec=${USER} "$0" "$@"`
  const ended = spawnSync('unshare', ['--mount', '--propagation', 'private', 'sh', '-c', script, folder, ...command], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: '/tmp' },
  })
  assert.equal(ended.error, undefined)
  return ended
}

test('every pin of a Debian package has the same version on all platforms', () => {
  const pins = JSON.parse(readFileSync(join(import.meta.dirname, 'debian-pins.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, Record<string, unknown>>>
  }
  for (const [name, pin] of Object.entries(pins.packages)) {
    for (const architecture of ARCHITECTURES) {
      const { path, sha256: hex } = pin[architecture] as { readonly path: string; readonly sha256: string }
      assert.match(hex, /^[0-9a-f]{64}$/, name)
      assert.match(path, new RegExp(`/${name.replaceAll(/[.+]/g, '\\$&')}_[^/]+_(${architecture}|all)\\.deb$`))
    }
  }
})
