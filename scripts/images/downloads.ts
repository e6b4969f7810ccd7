// Tested by scripts/images/images.contract.test.ts.
// Pinned files from networks: each is verified by its digest and kept in the cache outside the clone.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { DebianPin } from '../../src/testing/testenv.ts'
import { cacheDir, npmCommand } from '../bootstrap.mjs'
import { run } from '../child.ts'
import { untarMember } from '../unzip.ts'
import pins from '../node-pins.json' with { type: 'json' }
import debian from './debian-pins.json' with { type: 'json' }

/** A platform of the images, by the name that OCI and Debian give its processor. */
export const ARCHITECTURES = ['amd64', 'arm64'] as const
export type Architecture = (typeof ARCHITECTURES)[number]

/** A pinned package that is part of an image. */
export interface PinnedPackage {
  readonly name: string
  readonly version: string
  readonly bytes: Uint8Array
  /** Digest of the package as it was fetched, with the name of its algorithm. */
  readonly checksum: { readonly algorithm: 'SHA256' | 'SHA512'; readonly hex: string }
}

/** Debian packages of a layer, in the order of their names. */
export async function debianPackages(layer: 'base' | 'git', architecture: Architecture): Promise<PinnedPackage[]> {
  const wanted = Object.entries(debian.packages).filter(([, pin]) => pin.layer === layer)
  const found: PinnedPackage[] = []
  // One after the other: archives refuse callers that open many connections.
  for (const [name, pin] of wanted) {
    const { path, sha256 } = pin[architecture]
    const bytes = await fetchDebianPackage(name, { version: pin.version, archive: pin.archive, path, sha256 })
    found.push({ name, version: pin.version, bytes, checksum: { algorithm: 'SHA256', hex: sha256 } })
  }
  return found
}

/** A Debian package, from the cache or the archive. */
export function fetchDebianPackage(name: string, { version, archive, path, sha256 }: DebianPin): Promise<Uint8Array> {
  return cached(`${name}-${sha256.slice(0, 16)}.deb`, 'sha256', sha256, () =>
    fetchFirst(debianAddresses(archive, path), `${name} ${version}`),
  )
}

/** The archive of today first: the archive of all days keeps a package after a newer one has taken its place. */
function debianAddresses(archive: string, path: string): string[] {
  const mirror = process.env['FLOTILLA_DEBIAN_MIRROR'] ?? 'http://deb.debian.org'
  return [
    `${mirror.replace(/\/+$/, '')}/${archive}/${path}`,
    `https://snapshot.debian.org/archive/${archive}/${debian.snapshot}/${path}`,
  ]
}

/** The program of Node and its license, from the npm package that scripts/node-pins.json pins. */
export async function nodePackage(architecture: Architecture): Promise<PinnedPackage & { readonly license: Buffer }> {
  const pin = pins.packages[architecture === 'amd64' ? 'linux-x64' : 'linux-arm64']
  const hex = Buffer.from(pin.integrity.slice('sha512-'.length), 'base64').toString('hex')
  const packed = await cached(`${pin.name}-${pins.version}.tgz`, 'sha512', hex, () =>
    npmPack(`${pin.name}@${pins.version}`),
  )
  const tar = gunzipSync(packed)
  return {
    name: 'node',
    version: pins.version,
    bytes: untarMember(tar, 'package/bin/node'),
    license: untarMember(tar, 'package/LICENSE'),
    checksum: { algorithm: 'SHA512', hex },
  }
}

async function npmPack(what: string): Promise<Uint8Array> {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-pack-'))
  try {
    const npm = npmCommand()
    const { code, output } = await run(npm.command, [...npm.args, 'pack', what, '--json', '--ignore-scripts'], {
      cwd: folder,
    })
    const file = /[\w.-]+\.tgz/.exec(output)?.[0]
    if (code !== 0 || file === undefined) {
      throw new Error(`npm could not fetch ${what}: ${output.trim().split('\n').at(-1)}; check the network`)
    }
    return readFileSync(join(folder, file))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function fetchFirst(addresses: readonly string[], what: string): Promise<Uint8Array> {
  const problems: string[] = []
  for (const address of addresses) {
    try {
      const answer = await fetch(address, { signal: AbortSignal.timeout(120_000) })
      if (answer.ok) return new Uint8Array(await answer.arrayBuffer())
      problems.push(`${address}: HTTP ${answer.status}`)
    } catch (caught) {
      const { cause, message } = caught as Error
      problems.push(`${address}: ${cause instanceof Error ? cause.message : message}`)
    }
  }
  throw new Error(
    `cannot fetch ${what}: ${problems.join('; ')}. Check the network, or name a mirror in FLOTILLA_DEBIAN_MIRROR`,
  )
}

/** Bytes of a digest: from the cache, or fetched and then kept. */
async function cached(
  name: string,
  algorithm: 'sha256' | 'sha512',
  hex: string,
  get: () => Promise<Uint8Array>,
): Promise<Uint8Array> {
  const file = join(cacheDir(), 'images', name)
  const digestOf = (bytes: Uint8Array) => createHash(algorithm).update(bytes).digest('hex')
  if (existsSync(file)) {
    const kept = readFileSync(file)
    if (digestOf(kept) === hex) return kept
  }
  const bytes = await get()
  const found = digestOf(bytes)
  if (found !== hex) throw new Error(`${name} has ${algorithm} ${found}; ${hex} is pinned. Do not use this file`)
  mkdirSync(join(cacheDir(), 'images'), { recursive: true })
  const half = `${file}.${process.pid}`
  writeFileSync(half, bytes)
  renameSync(half, file)
  return bytes
}
