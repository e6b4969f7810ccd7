// Charts that go on for ever or take all memory: each fails its own bundle, and the next one renders.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createFileBlobs } from '../../blobs/file-blobs.ts'
import { utf8 } from '../../core/bytes.ts'
import { silentLogger } from '../../core/log.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import type { VariantsRequest } from '../../render/bundle/render-variants.ts'
import { describeProblems } from '../../render/render-result.ts'
import { storeFiles } from '../../source/store-files.ts'
import { createRenderer } from './limited-renderer.ts'
import type { RendererLimits } from './limited-renderer.ts'

const LIMITS: RendererLimits = {
  timeMs: 60_000,
  memoryMiB: 512,
  graceMs: 60_000,
  quick: { timeMs: 30_000, memoryMiB: 512 },
  againMs: 60_000,
}
const NEVER = new AbortController().signal
const cluster = (name: string) => ({ name, labels: {}, annotations: {}, claims: {}, values: {} })
const FINE = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: fine\n'
const TEMPLATES: Readonly<Record<string, string>> = {
  fine: FINE,
  // Walks template nodes, so that it stops by itself.
  long: `${FINE}{{ range until 1000000 }}\n{{- range until 100000 }}{{ end }}{{ end }}\n`,
  // One call that does not return to the event loop in time.
  stuck: `${FINE}# {{ until 300000 | uniq | len }}\n`,
  large: `${FINE}{{ $kept := dict }}{{ range $i := until 9000 }}\n{{- $_ := set $kept (toString $i) (until 50000) }}{{ end }}\n`,
}

describe('the render thread under guard', () => {
  let folder = ''
  const requests = new Map<string, VariantsRequest>()
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'limited-renderer-'))
    const blobs = createFileBlobs({ folder, ids: systemIds })
    for (const [name, text] of Object.entries(TEMPLATES)) {
      const files = { 'Chart.yaml': `apiVersion: v2\nname: ${name}\nversion: 1.0.0\n`, 'templates/a.yaml': text }
      const bytes = new Map(Object.entries(files).map(([path, content]) => [path, utf8(content)]))
      const { digest } = await storeFiles(bytes, {}, blobs)
      requests.set(name, {
        recipe: { bundle: `ns/${name}`, artifact: digest, path: '' },
        clusters: ['a', 'b'].map(cluster),
        frozen: { kept: 'before' },
      })
      requests.set(`other ${name}`, {
        ...requests.get(name)!,
        recipe: { bundle: `other/${name}`, artifact: digest, path: '' },
      })
    }
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  async function withRenderer<T>(
    own: Partial<RendererLimits>,
    work: (outcome: (name: string, signal?: AbortSignal) => Promise<string>) => Promise<T>,
  ): Promise<T> {
    const limits = { ...LIMITS, ...own }
    const renderer = createRenderer({ blobs: { kind: 'files', folder }, clock: systemClock, log: silentLogger, limits })
    try {
      return await work(async (name, signal = NEVER) => {
        const { variants, frozen } = await renderer.render(requests.get(name)!, signal)
        assert.deepEqual(frozen, { kept: 'before' })
        return variants
          .map(({ clusters, result }) => {
            const what =
              result.ok === true
                ? result.objects[0]!.metadata.name
                : result.ok
                  ? 'skip'
                  : describeProblems(result.problems)
            return `${clusters.join(' ')}: ${what}`
          })
          .join('; ')
      })
    } finally {
      await renderer.close()
    }
  }

  test('a chart that goes on for ever fails itself with its template and line', async () => {
    await withRenderer({ timeMs: 1000 }, async (outcome) => {
      const [long, fine] = await Promise.all([outcome('long'), outcome('fine')])
      assert.match(
        long,
        /^a b: long\/templates\/a\.yaml: the template ran for longer than it may; it was at long\/templates\/a\.yaml:\d+:\d+$/,
      )
      assert.equal(fine, 'a b: fine')
    })
  })

  test('a chart that does not stop by itself ends the thread, and the next one renders in a new one', async () => {
    await withRenderer({ timeMs: 1000, graceMs: 1000, quick: { timeMs: 500, memoryMiB: 512 } }, async (outcome) => {
      const [stuck, fine] = await Promise.all([outcome('stuck'), outcome('fine')])
      assert.match(
        stuck,
        /^a b: the content was not rendered within 1 s and was stopped; it was at stuck\/templates\/a\.yaml(:\d+:\d+)?: look/,
      )
      assert.equal(fine, 'a b: fine')
    })
  })

  test('a chart that takes all memory ends the thread, and the next one renders in a new one', async () => {
    await withRenderer({ memoryMiB: 64, quick: { timeMs: 60_000, memoryMiB: 32 } }, async (outcome) => {
      const [large, fine] = await Promise.all([outcome('large'), outcome('fine')])
      assert.match(
        large,
        /^a b: the content needs more than 64 MiB of memory and was stopped; it was at large\/templates\/a\.yaml:6:\d+: look/,
      )
      assert.equal(fine, 'a b: fine')
    })
  })

  test('F14, CVE-2022-31016, CVE-2024-29893: content without an end delays no other namespace, and is stopped sooner when it is tried again', async () => {
    const quick = { timeMs: 2500, memoryMiB: 512 }
    await withRenderer({ timeMs: 6000, graceMs: 0, quick, againMs: 1000 }, async (outcome) => {
      const ended: string[] = []
      const note = async (name: string) => {
        const words = await outcome(name)
        ended.push(name)
        return words
      }
      const stuck = note('stuck')
      const others = ['other fine', 'other fine', 'other fine'].map(note)
      for (const other of others) assert.equal(await other, 'a b: fine')
      assert.match(await stuck, /was not rendered within 6 s and was stopped/)
      assert.deepEqual(ended, ['other fine', 'other fine', 'other fine', 'stuck'])
      assert.match(await outcome('stuck'), /was not rendered within 1 s and was stopped/)
      // The namespace is not locked out.
      assert.equal(await outcome('fine'), 'a b: fine')
    })
  })

  test('a rendering that is cancelled while it waits ends at once', async () => {
    await withRenderer({}, async (outcome) => {
      const [first, second] = [new AbortController(), new AbortController()]
      const stuck = outcome('stuck', first.signal)
      const waiting = outcome('fine', second.signal)
      second.abort(new Error('changed my mind'))
      await assert.rejects(waiting, /changed my mind/)
      first.abort(new Error('enough'))
      await assert.rejects(stuck, /enough/)
    })
  })

  test('a cancelled rendering does not delay the next one', async () => {
    await withRenderer({}, async (outcome) => {
      const unwanted = new AbortController()
      const stuck = outcome('stuck', unwanted.signal)
      const fine = outcome('fine')
      setImmediate(() => unwanted.abort(new Error('changed my mind')))
      await assert.rejects(stuck, /changed my mind/)
      assert.equal(await fine, 'a b: fine')
    })
  })

  test('closing does not wait for a chart without an end', async () => {
    const renderer = createRenderer({
      blobs: { kind: 'files', folder },
      clock: systemClock,
      log: silentLogger,
      limits: LIMITS,
    })
    const stuck = renderer.render(requests.get('stuck')!, NEVER)
    stuck.catch(() => {})
    await new Promise((resolve) => setImmediate(resolve))
    await renderer.close()
    await assert.rejects(stuck, /the render thread ended|the hub is closing/)
  })

  test('a thread with nothing to do rests, and what comes then is rendered by another', async () => {
    const rested: number[] = []
    const clock = {
      monotonicMs: () => systemClock.monotonicMs(),
      // As long as content may take it sleeps; the rest is over at once.
      sleep: async (ms: number, signal: AbortSignal) => {
        if (ms !== 20) return await systemClock.sleep(ms, signal)
        rested.push(ms)
      },
    }
    const renderer = createRenderer({ blobs: { kind: 'files', folder }, clock, log: silentLogger, restAfterMs: 20 })
    try {
      for (let count = 1; count <= 3; count++) {
        const { variants } = await renderer.render(requests.get('fine')!, NEVER)
        assert.equal(variants[0]?.result.ok, true)
        assert.equal(rested.length, count)
      }
    } finally {
      await renderer.close()
    }
  })
})
