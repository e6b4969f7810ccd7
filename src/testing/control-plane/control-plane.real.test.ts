import assert from 'node:assert/strict'
import { type ChildProcess, execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { startControlPlane } from './control-plane.ts'
import { needBinary } from '../testenv.ts'

const execute = promisify(execFile)

async function kubectl(kubeconfig: string, ...args: string[]): Promise<string> {
  return (await execute(needBinary('kubectl'), ['--kubeconfig', kubeconfig, ...args])).stdout
}

describe('a real control plane', { timeout: 300_000 }, () => {
  test('makes a Deployment Available', async () => {
    await using plane = await startControlPlane({ controllers: true, nodes: 2 })
    const deployment = ['deployment', 'web', '--image=example.invalid/web:1', '--replicas=3']
    await kubectl(plane.kubeconfigPath, 'create', ...deployment)
    await kubectl(plane.kubeconfigPath, 'wait', '--for=condition=Available', 'deployment/web', '--timeout=120s')
    const ready = await kubectl(plane.kubeconfigPath, 'get', 'deployment/web', '-o=jsonpath={.status.readyReplicas}')
    assert.equal(ready, '3')
    const version = JSON.parse((await plane.call('GET', '/version')).text) as { gitVersion: string }
    assert.match(version.gitVersion, /^v1\.36\./)
  })

  test('has nothing of its neighbour, and lets a stranger do nothing', async () => {
    await using one = await startControlPlane()
    await using other = await startControlPlane()
    await kubectl(one.kubeconfigPath, 'create', 'namespace', 'only-here')
    assert.match(await kubectl(one.kubeconfigPath, 'get', 'namespaces', '-o=name'), /namespace\/only-here/)
    assert.doesNotMatch(await kubectl(other.kubeconfigPath, 'get', 'namespaces', '-o=name'), /only-here/)
    const stranger = one.writeKubeconfig('stranger', ['nobodies'])
    assert.equal(await kubectl(stranger, 'auth', 'whoami', '-o=jsonpath={.status.userInfo.username}'), 'stranger')
    await assert.rejects(kubectl(stranger, 'get', 'namespaces'), /User "stranger" cannot list resource "namespaces"/)
    await assert.rejects(kubectl(one.kubeconfigPath, '--server', other.url, 'get', 'namespaces'), /certificate/)
  })

  test('leaves no process and no file behind when the test process is killed', async (t) => {
    const victim = fork(join(import.meta.dirname, 'killed-process.ts'), { execArgv: [] })
    t.after(() => victim.kill('SIGKILL'))
    const [{ dir, group }] = (await Promise.race([once(victim, 'message'), failedEarly(victim)])) as [Started]
    const names = await livingInGroup(group)
    // The supervisor, etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kwok.
    assert.equal(names.length, 6, `living: ${names.join(', ')}`)
    assert.ok(existsSync(dir))
    victim.kill('SIGKILL')
    while ((await livingInGroup(group)).length > 0 || existsSync(dir)) await sleep(50)
  })
})

interface Started {
  readonly dir: string
  readonly group: number
}

async function failedEarly(victim: ChildProcess): Promise<never> {
  const [code] = await once(victim, 'exit')
  throw new Error(`the test process ended by itself with code ${code}`)
}

/** The names of the running processes of a group, without zombies. */
async function livingInGroup(group: number): Promise<string[]> {
  if (process.platform !== 'linux') {
    const { stdout } = await execute('ps', ['-A', '-o', 'pgid=,stat=,comm='])
    const rows = stdout.split('\n').map((line) => line.trim().split(/\s+/))
    return rows.filter(([id, state]) => Number(id) === group && !state?.startsWith('Z')).map((row) => row[2] ?? '')
  }
  return readdirSync('/proc').flatMap((pid) => {
    const [, name, state, , id] = /^\d+ \((.*)\) (\w) (\d+) (\d+)/s.exec(statOf(pid)) ?? []
    return name !== undefined && Number(id) === group && state !== 'Z' ? [name] : []
  })
}

function statOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return '' // not a process, or gone meanwhile
  }
}
