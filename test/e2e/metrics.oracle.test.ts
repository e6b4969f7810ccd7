/** The hub's metrics as Prometheus' own tool reads them. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { declaredMetrics } from '../../src/hub/metrics/docs-page.ts'
import { FREE, startFlotilla, temporaryFolder } from './flotilla-process.ts'

const hasPromtool = spawnSync('promtool', ['--version']).status === 0
const skip = hasPromtool || process.env['CI'] === 'true' ? false : 'promtool is not here: apt-get install prometheus'

test(
  'promtool accepts what a hub serves, and every documented metric of a running hub is in it',
  { skip },
  async (t) => {
    const data = join(temporaryFolder(t), 'hub')
    const hub = startFlotilla(t, ['hub', 'run', '--data', data, ...FREE])
    const [, page = ''] = await hub.says(/ console (\S+) /)
    const scrape = async () => await (await fetch(new URL('/metrics', page))).text()
    const first = await scrape()
    assert.match(first, /^flotilla_clusters\{state="Ready"\} 0$/m)
    const text = await scrape()
    const checked = execFileSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8', stdio: 'pipe' })
    assert.equal(checked, '')
    // Label sets that nothing happened to yet have no series, but their declaration is served.
    for (const { name, type } of declaredMetrics()) {
      if (name.startsWith('leader_election')) continue // an embedded hub is alone
      assert.ok(text.includes(`# TYPE ${name} ${type}\n`), `${name} is not served`)
    }
    assert.equal((await hub.stop()).code, 0)
  },
)
