// A test process that starts a control plane and never stops it: the test of control-plane.ts kills it.
import { servers } from './server-processes.ts'
import { startControlPlane } from './control-plane.ts'

await startControlPlane({ controllers: true, nodes: 1 })
const { dir, group } = servers()
process.send?.({ dir, group })
await new Promise(() => setInterval(() => {}, 1000))
