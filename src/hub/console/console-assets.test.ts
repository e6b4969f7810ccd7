import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { silentLogger } from '../../core/log.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { assetPlaces, BEING_BUILT, createConsoleAssets } from './console-assets.ts'

function folderFor(t: { after(fn: () => void): void }): string {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-assets-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('files are served by their path, and nothing else', async (t) => {
  const folder = folderFor(t)
  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'index.html'), 'page')
  writeFileSync(join(folder, 'build.json'), 'stamp')
  writeFileSync(join(folder, 'assets/a.js'), 'script')
  const assets = createConsoleAssets({ places: { folder }, log: silentLogger })
  const textOf = async (path: string) => {
    const asset = await assets.get(path)
    return asset && `${gunzipSync(asset.gzip).toString()} ${asset.type.split(';')[0]} ${asset.isImmutable}`
  }
  assert.equal(await textOf('/'), 'page text/html false')
  assert.equal(await textOf('/assets/a.js'), 'script text/javascript true')
  for (const path of ['/build.json', '/assets/../index.html', '/assets', '/x', '/constructor']) {
    assert.equal(await textOf(path), undefined, path)
  }
  assert.equal(await assets.problem(), undefined)
})

test('a built hub without its files says where they should be', async (t) => {
  const folder = folderFor(t)
  const assets = createConsoleAssets({ places: { folder }, log: silentLogger })
  assets.prepare()
  assert.equal(await assets.problem(), `The files of the console are missing: ${folder}.`)
})

test('in a clone the page is built once, and a failed build says why', async (t) => {
  const folder = folderFor(t)
  const script = join(folder, 'build.mjs')
  const dist = join(folder, 'dist')
  const state = async (assets: ReturnType<typeof createConsoleAssets>) => {
    for (;;) {
      const problem = await assets.problem()
      if (problem !== BEING_BUILT) return problem
      await systemClock.sleep(20)
    }
  }
  writeFileSync(script, `process.stderr.write('no network\\n'); process.exitCode = 1`)
  const failing = createConsoleAssets({ places: { folder: dist, script }, log: silentLogger })
  assert.equal(await failing.problem(), BEING_BUILT)
  failing.prepare()
  assert.equal(await state(failing), 'The console could not be built: no network')

  const body = `import fs from 'node:fs'; fs.mkdirSync(${JSON.stringify(dist)}); fs.writeFileSync(${JSON.stringify(join(dist, 'index.html'))}, 'page')`
  writeFileSync(script, body)
  const building = createConsoleAssets({ places: { folder: dist, script }, log: silentLogger })
  building.prepare()
  building.prepare()
  assert.equal(await state(building), undefined)
  assert.ok(await building.get('/'))
})

test('the places of a clone and of a built hub', () => {
  assert.match(assetPlaces().folder, /\/console\/dist$/)
  assert.match(assetPlaces().script ?? '', /\/scripts\/build-console\.ts$/)
  const built = assetPlaces({ dirname: '/opt/flotilla', filename: '/opt/flotilla/hub.mjs' } as ImportMeta)
  assert.deepEqual(built, { folder: '/opt/flotilla/console' })
})
