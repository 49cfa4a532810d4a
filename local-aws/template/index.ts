export { deploy } from '../deploy.ts';
export { readCloudAssembly } from './cloud-assembly.ts';
export { resolveIntrinsics } from './intrinsics.ts';
export { Resources } from './resources.ts';
export {
  listOf,
  type Statement,
  SynthesisedTemplate,
  type TemplateResource,
} from './synthesised-template.ts';
