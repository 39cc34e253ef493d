// Made from api/openapi.json by "make generate": do not edit.
// sha256 of it: d56786891ab5ed316cae17d099634b87a343864d1e3f578400186deccebdd688

export interface paths {
	"/api/v1/access/can": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["access-can"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/access/permissions": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["list-permissions"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agent-releases": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["list-agent-releases"];
		put?: never;
		post: operations["add-agent-releases"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agent-upgrades": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["list-agent-upgrades"];
		put?: never;
		post: operations["create-agent-upgrade"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agent-upgrades/{id}": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["get-agent-upgrade"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agent-upgrades/{id}/resume": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["resume-agent-upgrade"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agent-upgrades/{id}/rollback": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["rollback-agent-upgrade"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agent-upgrades/{id}/stop": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["stop-agent-upgrade"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agent-versions": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["get-agent-versions"];
		put: operations["set-agent-versions"];
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["list-agents"];
		put?: never;
		post: operations["create-agent"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/applications": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["create-application"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/applications/preview": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["preview-application"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/applications/{namespace}/{name}": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["get-application"];
		put: operations["update-application"];
		post?: never;
		delete: operations["delete-application"];
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/applications/{namespace}/{name}/allow": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["allow-drift"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/applications/{namespace}/{name}/badge": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["application-badge"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/applications/{namespace}/{name}/confirm": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["confirm-deletion"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/applications/{namespace}/{name}/diff": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["diff-application"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/applications/{namespace}/{name}/history": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["application-history"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/applications/{namespace}/{name}/link": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["get-application-link"];
		put: operations["link-application"];
		post?: never;
		delete: operations["unlink-application"];
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/applications/{namespace}/{name}/links": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["application-links"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/applications/{namespace}/{name}/logs": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["application-logs"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/applications/{namespace}/{name}/manifests": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["application-manifests"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/applications/{namespace}/{name}/operation": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["get-operation"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/applications/{namespace}/{name}/plan": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["plan-sync"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/applications/{namespace}/{name}/refresh": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["refresh-application"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/applications/{namespace}/{name}/resource": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["get-resource"];
		put?: never;
		post?: never;
		delete: operations["delete-resource"];
		options?: never;
		head?: never;
		patch: operations["patch-resource"];
		trace?: never;
	};
	"/api/v1/agents/{agent}/applications/{namespace}/{name}/resource/actions": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["list-actions"];
		put?: never;
		post: operations["run-action"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/applications/{namespace}/{name}/resource/events": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["resource-events"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/applications/{namespace}/{name}/restore": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["restore-objects"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/applications/{namespace}/{name}/revert": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["revert-drift"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/applications/{namespace}/{name}/revision-status": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["revision-status"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/applications/{namespace}/{name}/revisions": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["list-revisions"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/applications/{namespace}/{name}/revisions/{revision}": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["get-revision"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/applications/{namespace}/{name}/rollback": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["rollback-application"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/applications/{namespace}/{name}/sync": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["sync-application"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/applications/{namespace}/{name}/terminal": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["application-terminal"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/applications/{namespace}/{name}/terminate": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["terminate-operation"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/applications/{namespace}/{name}/tree": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["application-tree"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/applications/{namespace}/{name}/tree/events": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["application-tree-events"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/applications/{namespace}/{name}/unpin": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["unpin-application"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/applications/{namespace}/{name}/why": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["why-application"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/applicationsets": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["create-application-set"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/applicationsets/{namespace}/{name}": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["get-application-set"];
		put: operations["update-application-set"];
		post?: never;
		delete: operations["delete-application-set"];
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/argo-projects": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["create-argo-project"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/argo-projects/{namespace}/{name}": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["get-argo-project"];
		put: operations["update-argo-project"];
		post?: never;
		delete: operations["delete-argo-project"];
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/argo-projects/{namespace}/{name}/links": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["argo-project-links"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/certificates": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["create-certificate"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/certificates/{namespace}/{name}": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["get-certificate"];
		put: operations["update-certificate"];
		post?: never;
		delete: operations["delete-certificate"];
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/clusters": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["create-cluster"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/clusters/test": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["test-cluster"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/clusters/{namespace}/{name}": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["get-cluster"];
		put: operations["update-cluster"];
		post?: never;
		delete: operations["delete-cluster"];
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/credential-templates": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["create-credential-template"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/credential-templates/{namespace}/{name}": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["get-credential-template"];
		put: operations["update-credential-template"];
		post?: never;
		delete: operations["delete-credential-template"];
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/gpg-keys": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["create-gnupg-key"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/gpg-keys/{namespace}/{name}": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["get-gnupg-key"];
		put: operations["update-gnupg-key"];
		post?: never;
		delete: operations["delete-gnupg-key"];
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/known-hosts": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["create-known-host"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/known-hosts/{namespace}/{name}": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put: operations["update-known-host"];
		post?: never;
		delete: operations["delete-known-host"];
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/repositories": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["create-repository"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/repositories/test": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["test-repository"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/repositories/{namespace}/{name}": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["get-repository"];
		put: operations["update-repository"];
		post?: never;
		delete: operations["delete-repository"];
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/repository-paths": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["repository-paths"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{agent}/repository-refs": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["repository-refs"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{id}": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["get-agent"];
		put: operations["update-agent"];
		post?: never;
		delete: operations["delete-agent"];
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{id}/commands": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["list-agent-commands"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{id}/links": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["link-agent-applications"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{id}/manifest": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["agent-manifest"];
		put?: never;
		post: operations["write-agent-manifest"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{id}/mappings": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["list-mappings"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{id}/mappings/{argoProject}": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put: operations["set-mapping"];
		post?: never;
		delete: operations["delete-mapping"];
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{id}/registration": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["register-agent"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{id}/revoke": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["revoke-agent"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/agents/{id}/rotate": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["rotate-agent"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/applications": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["list-applications"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/applications/refresh": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["bulk-refresh"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/applications/sync": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["bulk-sync"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/applicationsets": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["list-applicationsets"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/argo-projects": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["list-argo-projects"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/audit": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["list-audit"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/audit/export": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["export-audit"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/audit/verification": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["verify-audit"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/audit/{id}": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["get-audit-entry"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/bindings": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["list-bindings"];
		put?: never;
		post: operations["create-binding"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/bindings/{id}": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["get-binding"];
		put: operations["update-binding"];
		post?: never;
		delete: operations["delete-binding"];
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/certificates": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["list-certificates"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/clusters": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["list-clusters"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/commands/{id}": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["get-command"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/credential-templates": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["list-credential-templates"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/environments": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["list-environments"];
		put?: never;
		post: operations["create-environment"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/environments/{id}": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["get-environment"];
		put: operations["update-environment"];
		post?: never;
		delete: operations["delete-environment"];
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/events": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["events"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/fleet/applications": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["fleet-applications"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/fleet/attention": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["fleet-attention"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/fleet/dora": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["fleet-dora"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/fleet/matrix": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["fleet-matrix"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/fleet/service-levels": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["fleet-service-levels"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/fleet/services": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["fleet-services"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/fleet/summary": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["fleet-summary"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/fleet/views": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["list-views"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/fleet/views/{name}": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["get-view"];
		put: operations["save-view"];
		post?: never;
		delete: operations["delete-view"];
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/gpg-keys": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["list-gpg-keys"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/groups": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["list-groups"];
		put?: never;
		post: operations["create-group"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/groups/{id}": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["get-group"];
		put: operations["update-group"];
		post?: never;
		delete: operations["delete-group"];
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/info": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["server-info"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/instances": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["list-instances"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/jobs": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["list-jobs"];
		put?: never;
		post: operations["create-job"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/jobs/{id}": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["get-job"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/jobs/{id}/stop": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["stop-job"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/jobs/{id}/targets": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["list-job-targets"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/ledger": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["list-ledger"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/ledger/at": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["ledger-at"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/ledger/diff": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["ledger-diff"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/ledger/export": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["export-ledger"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/ledger/objects": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["ledger-object"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/ledger/{id}": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["get-ledger"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/ledger/{id}/diff/{other}": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["compare-ledger"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/ledger/{id}/manifests": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["get-ledger-manifests"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/notification-channels": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["list-notification-channels"];
		put?: never;
		post: operations["create-notification-channel"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/notification-channels/{id}": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["get-notification-channel"];
		put: operations["update-notification-channel"];
		post?: never;
		delete: operations["delete-notification-channel"];
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/notification-channels/{id}/test": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["test-notification-channel"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/notification-deliveries": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["list-notification-deliveries"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/notification-deliveries/{id}": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["get-notification-delivery"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/notification-deliveries/{id}/resend": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["resend-notification-delivery"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/notification-rules": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["list-notification-rules"];
		put?: never;
		post: operations["create-notification-rule"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/notification-rules/preview": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["preview-notification-rule"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/notification-rules/{id}": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["get-notification-rule"];
		put: operations["update-notification-rule"];
		post?: never;
		delete: operations["delete-notification-rule"];
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/organizations": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["list-organizations"];
		put?: never;
		post: operations["create-organization"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/organizations/{id}": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["get-organization"];
		put: operations["update-organization"];
		post?: never;
		delete: operations["delete-organization"];
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/overview": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["overview"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/projects": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["list-projects"];
		put?: never;
		post: operations["create-project"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/projects/{id}": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["get-project"];
		put: operations["update-project"];
		post?: never;
		delete: operations["delete-project"];
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/repositories": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["list-repositories"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/resource-groups": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["list-resource-groups"];
		put?: never;
		post: operations["create-resource-group"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/resource-groups/{id}": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["get-resource-group"];
		put: operations["update-resource-group"];
		post?: never;
		delete: operations["delete-resource-group"];
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/roles": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["list-roles"];
		put?: never;
		post: operations["create-role"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/roles/{id}": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["get-role"];
		put: operations["update-role"];
		post?: never;
		delete: operations["delete-role"];
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/service-accounts": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["list-service-accounts"];
		put?: never;
		post: operations["create-service-account"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/service-accounts/{id}": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["get-service-account"];
		put: operations["update-service-account"];
		post?: never;
		delete: operations["delete-service-account"];
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/services": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["list-services"];
		put?: never;
		post: operations["create-service"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/services/{id}": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["get-service"];
		put: operations["update-service"];
		post?: never;
		delete: operations["delete-service"];
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/session": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["whoami"];
		put?: never;
		post: operations["sign-in"];
		delete: operations["sign-out"];
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/session/methods": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["sign-in-methods"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/session/oidc": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["begin-oidc"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/session/oidc/callback": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["finish-oidc"];
		put?: never;
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/session/oidc/exchange": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["exchange-oidc"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/session/password": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["change-password"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/settings": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["get-settings"];
		put: operations["update-settings"];
		post?: never;
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/tokens": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["list-tokens"];
		put?: never;
		post: operations["create-token"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/tokens/{id}": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["get-token"];
		put?: never;
		post?: never;
		delete: operations["delete-token"];
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/users": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["list-users"];
		put?: never;
		post: operations["create-user"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/users/{id}": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get: operations["get-user"];
		put: operations["update-user"];
		post?: never;
		delete: operations["delete-user"];
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/api/v1/users/{id}/password": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		post: operations["reset-password"];
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
}
export type webhooks = Record<string, never>;
export interface components {
	schemas: {
		AccessAnswer: {
			allowed: boolean;
			why: string;
		};
		AccessQuestion: {
			labels?: {
				[key: string]: string;
			};
			object?: string;
			permission: string;
			principal?: components["schemas"]["Principal"];
			scope?: string;
		};
		Agent: {
			autoCreate?: boolean;
			/** Format: date-time */
			readonly createdAt?: string;
			description?: string;
			displayName?: string;
			/** @enum {string} */
			engine?: "slipway" | "argocd";
			hosted?: components["schemas"]["Hosting"];
			readonly id?: string;
			labels?: {
				[key: string]: string;
			};
			name: string;
			namespaced?: boolean;
			scope?: string;
			readonly sealKey?: string;
			readonly status?: components["schemas"]["AgentStatus"];
			readonly uid?: string;
			/** Format: date-time */
			readonly updatedAt?: string;
			/** Format: int64 */
			version?: number;
		};
		AgentComponent: {
			message?: string;
			name: string;
			/** @enum {string} */
			status: "Healthy" | "Unhealthy";
		};
		AgentLack: {
			command: string;
			message: string;
		};
		AgentRegistration: {
			agent: components["schemas"]["Agent"];
			commands: string[] | null;
			/** Format: date-time */
			expiresAt: string;
			token: string;
		};
		AgentRelease: {
			/** Format: date-time */
			addedAt?: string;
			addedBy?: components["schemas"]["Principal"];
			digest: string;
			minimum?: string;
			statement?: string;
			version: string;
		};
		AgentStatement: {
			statement: string;
		};
		AgentStatus: {
			clusterUID?: string;
			components?: components["schemas"]["AgentComponent"][] | null;
			/** @enum {string} */
			engine?: "slipway" | "argocd";
			/** Format: int64 */
			epoch?: number;
			image?: string;
			kubernetes?: string;
			/** Format: double */
			lagSeconds?: number;
			/** Format: date-time */
			lastHeartbeatAt?: string;
			message?: string;
			namespace?: string;
			noUpgrade?: string;
			/** Format: int64 */
			pending?: number;
			/** Format: date-time */
			registeredAt?: string;
			/** Format: date-time */
			since?: string;
			/** Format: int64 */
			stale?: number;
			/** @enum {string} */
			state: "Connected" | "Degraded" | "Disconnected" | "Never" | "Revoked";
			twin?: components["schemas"]["AgentTwin"];
			unsupported?: components["schemas"]["AgentLack"][] | null;
			upgrades?: boolean;
			version?: string;
		};
		AgentTwin: {
			address?: string;
			clusterUID: string;
			/** Format: date-time */
			lastSeenAt: string;
		};
		AgentVersionRule: {
			release: string;
			scope?: string;
			selector?: {
				[key: string]: string;
			};
		};
		AgentVersions: {
			rules: components["schemas"]["AgentVersionRule"][] | null;
			/** Format: int64 */
			version?: number;
		};
		AllowRequest: {
			dryRun?: boolean;
			object: components["schemas"]["ObjectName"];
			reason?: string;
			/** Format: date-time */
			until: string;
		};
		AllowedDrift: {
			by?: string;
			reason?: string;
			/** Format: date-time */
			until: string;
		};
		Application: {
			agent: string;
			agentAway?: boolean;
			argoProject: string;
			/** Format: date-time */
			asOf?: string;
			autoSync?: boolean;
			conditions?: string[] | null;
			destination?: string;
			/** Format: date-time */
			driftSince?: string;
			environment?: string;
			/** Format: date-time */
			finishedAt?: string;
			health: string;
			held?: boolean;
			id: string;
			labels?: {
				[key: string]: string;
			};
			message?: string;
			name: string;
			namespace: string;
			path?: string;
			phase?: string;
			repoURL?: string;
			revision?: string;
			scope: string;
			service?: string;
			stale?: boolean;
			/** Format: date-time */
			staleSince?: string;
			sync: string;
			/** Format: date-time */
			updatedAt?: string;
			version?: string;
		};
		ApplicationDetail: {
			agent: string;
			agentAway?: boolean;
			argoProject: string;
			/** Format: date-time */
			asOf?: string;
			autoSync?: boolean;
			conditions?: string[] | null;
			destination?: string;
			/** Format: date-time */
			driftSince?: string;
			environment?: string;
			/** Format: date-time */
			finishedAt?: string;
			health: string;
			held?: boolean;
			id: string;
			labels?: {
				[key: string]: string;
			};
			message?: string;
			name: string;
			namespace: string;
			path?: string;
			phase?: string;
			repoURL?: string;
			resource: unknown;
			revision?: string;
			scope: string;
			service?: string;
			stale?: boolean;
			/** Format: date-time */
			staleSince?: string;
			sync: string;
			unsupported?: components["schemas"]["AgentLack"][] | null;
			/** Format: date-time */
			updatedAt?: string;
			version?: string;
		};
		ApplicationLink: {
			/** Format: date-time */
			readonly createdAt?: string;
			environment?: string;
			service?: string;
			/** Format: date-time */
			readonly updatedAt?: string;
			/** Format: int64 */
			version?: number;
		};
		ApplicationLinked: {
			environment?: string;
			/** @enum {string} */
			environmentBy?: "label" | "hand" | "cluster";
			link?: components["schemas"]["ApplicationLink"];
			service?: string;
			/** @enum {string} */
			serviceBy?: "label" | "hand";
			unknown?: string[] | null;
		};
		Attention: {
			counts: components["schemas"]["FleetCount"][] | null;
			items: components["schemas"]["AttentionItem"][] | null;
			neverDeployed: components["schemas"]["AttentionItem"][] | null;
			/** Format: int64 */
			total: number;
		};
		AttentionItem: {
			agent: string;
			agentAway?: boolean;
			/** Format: date-time */
			asOf?: string;
			/** @enum {string} */
			kind: "SourceError" | "Degraded" | "SyncFailed" | "Held" | "AgentAway" | "AgentDegraded" | "OutOfSync" | "NeverDeployed";
			message?: string;
			name: string;
			namespace?: string;
			object: components["schemas"]["Ref"];
			/** Format: date-time */
			since?: string;
			stale?: boolean;
			what: string;
		};
		AuditEntry: {
			action: string;
			actor: components["schemas"]["Principal"];
			after?: unknown;
			/** Format: date-time */
			at: string;
			before?: unknown;
			hash: string;
			/** Format: int64 */
			id: number;
			ip?: string;
			message?: string;
			object?: components["schemas"]["Ref"];
			/** @enum {string} */
			outcome: "succeeded" | "failed" | "denied";
			prevHash?: string;
			reason?: string;
			requestId?: string;
			userAgent?: string;
		};
		AuditVerification: {
			/** Format: int64 */
			checked: number;
			/** Format: int64 */
			first?: number;
			head?: string;
			message: string;
			ok: boolean;
		};
		Banner: {
			permanent?: boolean;
			/** @enum {string} */
			severity?: "info" | "warning" | "critical";
			text?: string;
			url?: string;
		};
		Binding: {
			/** Format: date-time */
			readonly createdAt?: string;
			description?: string;
			displayName?: string;
			readonly id?: string;
			labels?: {
				[key: string]: string;
			};
			name: string;
			principal: components["schemas"]["Principal"];
			resourceGroup?: string;
			role: string;
			scope?: string;
			/** Format: date-time */
			readonly updatedAt?: string;
			/** Format: int64 */
			version?: number;
		};
		BulkOutcome: {
			command?: string;
			message?: string;
			status: string;
			target: components["schemas"]["Target"];
		};
		BulkRefresh: {
			request?: components["schemas"]["RefreshRequest"];
			targets: components["schemas"]["Target"][] | null;
		};
		BulkResult: {
			outcomes: components["schemas"]["BulkOutcome"][] | null;
		};
		BulkSync: {
			request?: components["schemas"]["SyncRequest"];
			targets: components["schemas"]["Target"][] | null;
		};
		ChartDetails: {
			appVersion?: string;
			description?: string;
			name: string;
			parameters?: components["schemas"]["ChartParameter"][] | null;
			version: string;
		};
		ChartParameter: {
			name: string;
			/** @enum {string} */
			type: "string" | "number" | "boolean" | "list" | "map" | "null";
		};
		CodeExchange: {
			code: string;
			token: string;
			verifier: string;
		};
		Command: {
			agent: string;
			by: components["schemas"]["Principal"];
			/** Format: date-time */
			createdAt: string;
			/** Format: date-time */
			deadline: string;
			/** Format: date-time */
			finishedAt?: string;
			id: string;
			kind: string;
			message?: string;
			object?: components["schemas"]["Ref"];
			reason?: string;
			result?: unknown;
			/** @enum {string} */
			status: "pending" | "sent" | "done" | "failed" | "refused" | "expired" | "unknown";
		};
		ConfirmRequest: {
			dryRun?: boolean;
			message?: string;
			plan?: string;
			reason?: string;
		};
		DORAPoint: {
			/** Format: int64 */
			automatic: number;
			/** Format: int64 */
			changes: number;
			/** Format: int64 */
			deployments: number;
			/** Format: double */
			failureRate?: number;
			/** Format: int64 */
			failures: number;
			/** Format: date-time */
			from: string;
			leadTime: components["schemas"]["Quantiles"];
			/** Format: double */
			perDay: number;
			restore: components["schemas"]["Quantiles"];
			/** Format: int64 */
			unrestored: number;
		};
		DORAReport: {
			/** Format: int64 */
			automatic: number;
			/** Format: int64 */
			changes: number;
			/** Format: int64 */
			deployments: number;
			/** Format: double */
			failureRate?: number;
			/** Format: int64 */
			failures: number;
			/** Format: date-time */
			from: string;
			groups?: components["schemas"]["DORARow"][] | null;
			leadTime: components["schemas"]["Quantiles"];
			/** Format: int64 */
			more?: number;
			name: string;
			/** Format: double */
			perDay: number;
			restore: components["schemas"]["Quantiles"];
			series: components["schemas"]["DORAPoint"][] | null;
			/** Format: date-time */
			to: string;
			/** Format: int64 */
			unrestored: number;
		};
		DORARow: {
			/** Format: int64 */
			automatic: number;
			/** Format: int64 */
			changes: number;
			/** Format: int64 */
			deployments: number;
			/** Format: double */
			failureRate?: number;
			/** Format: int64 */
			failures: number;
			leadTime: components["schemas"]["Quantiles"];
			name: string;
			/** Format: double */
			perDay: number;
			restore: components["schemas"]["Quantiles"];
			series: components["schemas"]["DORAPoint"][] | null;
			/** Format: int64 */
			unrestored: number;
		};
		Deployment: {
			/** @enum {string} */
			action?: "sync" | "rollback" | "restore" | "partial";
			automatic: boolean;
			changes?: components["schemas"]["LedgerCounts"];
			commit?: components["schemas"]["LedgerCommit"];
			current: boolean;
			/** Format: date-time */
			deployedAt?: string;
			/** Format: date-time */
			finishedAt?: string;
			/** Format: int64 */
			id?: number;
			initiatedBy?: string;
			ledgerID?: string;
			message?: string;
			outcome: string;
			pinned: boolean;
			reason?: string;
			revision?: string;
			revisions: string[] | null;
			/** Format: date-time */
			startedAt?: string;
		};
		DeploymentHistory: {
			items: components["schemas"]["Deployment"][] | null;
			nextCursor?: string;
			warnings: string[] | null;
		};
		DiffAnswer: {
			items: components["schemas"]["ObjectDiff"][] | null;
			nextCursor?: string;
			warnings?: string[] | null;
		};
		Environment: {
			clusters?: components["schemas"]["EnvironmentCluster"][] | null;
			/** Format: date-time */
			readonly createdAt?: string;
			description?: string;
			displayName?: string;
			readonly id?: string;
			labels?: {
				[key: string]: string;
			};
			name: string;
			region?: string;
			scope?: string;
			/** @enum {string} */
			type?: "Production" | "PreProduction";
			/** Format: date-time */
			readonly updatedAt?: string;
			/** Format: int64 */
			version?: number;
		};
		EnvironmentCluster: {
			agent: string;
			cluster: string;
		};
		ErrorDetail: {
			location?: string;
			message?: string;
			value?: unknown;
		};
		ErrorModel: {
			detail?: string;
			errors?: components["schemas"]["ErrorDetail"][] | null;
			/** Format: uri */
			instance?: string;
			/** Format: int64 */
			status?: number;
			title?: string;
			/**
			 * Format: uri
			 * @default about:blank
			 */
			type: string;
		};
		Evidence: {
			container?: string;
			/** Format: int64 */
			count?: number;
			/** Format: date-time */
			last?: string;
			object: components["schemas"]["ObjectName"];
			/** Format: date-time */
			since?: string;
			/** @enum {string} */
			source: "event" | "spec" | "status";
			text: string;
		};
		FieldDiff: {
			ignored?: boolean;
			live: unknown;
			manager?: string;
			operation?: string;
			others?: components["schemas"]["FieldOwner"][] | null;
			path: string;
			since?: string;
			subresource?: string;
			wanted: unknown;
		};
		FieldOwner: {
			manager: string;
			operation: string;
			since?: string;
			subresource?: string;
		};
		FieldProblem: {
			field: string;
			message: string;
		};
		Finding: {
			code: string;
			container?: string;
			evidence: components["schemas"]["Evidence"][] | null;
			log?: components["schemas"]["FindingLog"];
			minor?: boolean;
			next: string;
			object: components["schemas"]["ObjectName"];
			of: components["schemas"]["ObjectName"];
			/** Format: int64 */
			restarts?: number;
			/** Format: date-time */
			since?: string;
			what: string;
		};
		FindingLog: {
			lines?: string[] | null;
			note?: string;
			previous?: boolean;
		};
		FleetCount: {
			/** Format: int64 */
			count: number;
			value: string;
		};
		FleetCounts: {
			/** Format: int64 */
			distinct: number;
			/** Format: int64 */
			others?: number;
			values: components["schemas"]["FleetCount"][] | null;
		};
		FleetFilter: {
			agent?: string;
			argoProject?: string;
			attention?: ("SourceError" | "Degraded" | "SyncFailed" | "Held" | "OutOfSync" | "NeverDeployed")[] | null;
			cluster?: string;
			driftOlder?: string;
			environment?: string;
			health?: ("Healthy" | "Progressing" | "Degraded" | "Suspended" | "Missing" | "Unknown")[] | null;
			held?: boolean;
			labels?: {
				[key: string]: string;
			};
			namespace?: string;
			phase?: ("Running" | "Terminating" | "Succeeded" | "Failed" | "Error")[] | null;
			region?: string;
			repoURL?: string;
			scope?: string;
			search?: string;
			service?: string;
			since?: string;
			stale?: boolean;
			sync?: ("Synced" | "OutOfSync" | "Unknown")[] | null;
			/** @enum {string} */
			type?: "Production" | "PreProduction";
			version?: string;
		};
		FleetMatrix: {
			/** Format: int64 */
			distinct: number;
			/** Format: int64 */
			others?: number;
			rows: components["schemas"]["FleetTally"][] | null;
		};
		FleetSummary: {
			agent: components["schemas"]["FleetCounts"];
			argoProject: components["schemas"]["FleetCounts"];
			attention: components["schemas"]["FleetCounts"];
			cluster: components["schemas"]["FleetCounts"];
			driftAge: components["schemas"]["FleetCounts"];
			environment: components["schemas"]["FleetCounts"];
			health: components["schemas"]["FleetCounts"];
			/** Format: int64 */
			held: number;
			label: components["schemas"]["FleetCounts"];
			phase: components["schemas"]["FleetCounts"];
			region: components["schemas"]["FleetCounts"];
			scope: components["schemas"]["FleetCounts"];
			service: components["schemas"]["FleetCounts"];
			/** Format: int64 */
			stale: number;
			sync: components["schemas"]["FleetCounts"];
			/** Format: int64 */
			total: number;
			version: components["schemas"]["FleetCounts"];
		};
		FleetTally: {
			health: {
				[key: string]: number;
			};
			/** Format: int64 */
			held: number;
			/** Format: int64 */
			stale: number;
			sync: {
				[key: string]: number;
			};
			/** Format: int64 */
			total: number;
			value: string;
		};
		Grant: {
			binding?: string;
			partial?: boolean;
			permissions: string[] | null;
			role?: string;
			scope: string;
		};
		Group: {
			claim?: string;
			/** Format: date-time */
			readonly createdAt?: string;
			description?: string;
			displayName?: string;
			readonly id?: string;
			labels?: {
				[key: string]: string;
			};
			members?: string[] | null;
			name: string;
			scope?: string;
			/** Format: date-time */
			readonly updatedAt?: string;
			/** Format: int64 */
			version?: number;
		};
		Hosting: {
			cluster?: string;
			readonly message?: string;
			readonly namespace?: string;
			/** Format: int64 */
			readonly restarts?: number;
			readonly server?: string;
			/** Format: date-time */
			readonly since?: string;
			readonly state?: string;
		};
		InstallOptions: {
			ca?: string;
			caConfigMap?: string;
			clientCertSecret?: string;
			existingSecret?: string;
			namespace?: string;
			namespaced?: boolean;
			namespaces?: string[] | null;
			noProxy?: string;
			proxy?: string;
			pullSecret?: string;
			registry?: string;
			releaseKeys?: string;
			skipCRDs?: boolean;
			standby?: boolean;
			succession?: string;
		};
		Instance: {
			images?: string[] | null;
			namespace: string;
			node?: string;
			owner?: string;
			phase?: string;
			pod: string;
			ready: boolean;
			/** Format: date-time */
			startedAt?: string;
		};
		Instances: {
			application: string;
			environment?: string;
			instances: components["schemas"]["Instance"][] | null;
			/** Format: int64 */
			ready: number;
			scope: string;
			service?: string;
			/** Format: date-time */
			staleSince?: string;
			/** Format: int64 */
			total: number;
			/** Format: date-time */
			updatedAt?: string;
		};
		Item: {
			agent: string;
			agentAway?: boolean;
			argoProject?: string;
			/** Format: date-time */
			asOf?: string;
			hash?: string;
			kind: string;
			labels?: {
				[key: string]: string;
			};
			name: string;
			namespace: string;
			resource?: unknown;
			scope: string;
			stale?: boolean;
			/** Format: date-time */
			staleSince?: string;
			/** Format: date-time */
			updatedAt?: string;
		};
		Job: {
			by: components["schemas"]["Principal"];
			counts: components["schemas"]["JobCounts"];
			/** Format: date-time */
			createdAt?: string;
			/** Format: date-time */
			finishedAt?: string;
			id?: string;
			message?: string;
			request: components["schemas"]["JobRequest"];
			state: string;
			stoppedBy?: string;
			traceparent?: string;
		};
		JobCounts: {
			/** Format: int64 */
			done: number;
			/** Format: int64 */
			failed: number;
			/** Format: int64 */
			refused: number;
			/** Format: int64 */
			running: number;
			/** Format: int64 */
			skipped: number;
			/** Format: int64 */
			total: number;
			/** Format: int64 */
			waiting: number;
		};
		JobPlan: {
			job: components["schemas"]["Job"];
			targets?: components["schemas"]["JobTarget"][] | null;
		};
		JobRequest: {
			/** @enum {string} */
			action: "sync" | "refresh" | "hard-refresh" | "rollback";
			except?: components["schemas"]["Target"][] | null;
			filter?: components["schemas"]["FleetFilter"];
			/** Format: int64 */
			limit?: number;
			reason?: string;
			rollback?: components["schemas"]["RollbackRequest"];
			/** Format: int64 */
			stopAfter?: number;
			sync?: components["schemas"]["SyncRequest"];
			targets?: components["schemas"]["Target"][] | null;
			/** Format: int64 */
			timeout?: number;
		};
		JobTarget: {
			application: string;
			command?: string;
			/** Format: date-time */
			finishedAt?: string;
			message?: string;
			/** Format: int64 */
			place: number;
			/** Format: date-time */
			startedAt?: string;
			state: string;
		};
		KustomizeDetails: {
			components?: string[] | null;
			images?: components["schemas"]["KustomizeImage"][] | null;
			namePrefix?: string;
			nameSuffix?: string;
			namespace?: string;
			resources?: string[] | null;
		};
		KustomizeImage: {
			digest?: string;
			name: string;
			newName?: string;
			newTag?: string;
		};
		LedgerChange: {
			group?: string;
			hook?: string;
			kind: string;
			message?: string;
			name: string;
			namespace?: string;
			outcome: string;
			verb: string;
		};
		LedgerCommit: {
			author?: string;
			/** Format: date-time */
			committedAt?: string;
			subject?: string;
		};
		LedgerComparedObject: {
			/** @enum {string} */
			change: "added" | "removed" | "changed";
			diff: string;
			group?: string;
			kind: string;
			name: string;
			namespace?: string;
		};
		LedgerComparison: {
			from: components["schemas"]["LedgerEntry"];
			items: components["schemas"]["LedgerComparedObject"][] | null;
			/** Format: int64 */
			same: number;
			to: components["schemas"]["LedgerEntry"];
			truncated: boolean;
			warnings: string[] | null;
		};
		LedgerCounts: {
			/** Format: int64 */
			changed: number;
			/** Format: int64 */
			created: number;
			/** Format: int64 */
			deleted: number;
			/** Format: int64 */
			failed: number;
			/** Format: int64 */
			unchanged: number;
		};
		LedgerDecision: {
			gate: string;
			message?: string;
			outcome: string;
		};
		LedgerDetail: {
			action: string;
			actor?: string;
			agent: string;
			applicationUID?: string;
			/** Format: date-time */
			appliedAt?: string;
			argoProject?: string;
			automatic?: boolean;
			changes?: components["schemas"]["LedgerChange"][] | null;
			command?: string;
			commit?: components["schemas"]["LedgerCommit"];
			counts: components["schemas"]["LedgerCounts"];
			decisions?: components["schemas"]["LedgerDecision"][] | null;
			destination?: string;
			/** Format: date-time */
			detectedAt?: string;
			engine?: string;
			environment?: string;
			/** Format: date-time */
			finishedAt: string;
			health?: string;
			/** Format: date-time */
			healthyAt?: string;
			id: string;
			message?: string;
			name: string;
			namespace: string;
			notes?: string[] | null;
			objects?: components["schemas"]["LedgerObject"][] | null;
			options?: components["schemas"]["LedgerOptions"];
			phase: string;
			reason?: string;
			recovered?: boolean;
			/** Format: date-time */
			renderedAt?: string;
			/** Format: int64 */
			repeats?: number;
			/** Format: int64 */
			retries?: number;
			revision?: string;
			scope: string;
			service?: string;
			sources?: components["schemas"]["LedgerSource"][] | null;
			/** Format: date-time */
			startedAt: string;
		};
		LedgerDiff: {
			differences: components["schemas"]["LedgerDifference"][] | null;
			nextCursor?: string;
			truncated?: boolean;
			warnings?: string[] | null;
		};
		LedgerDifference: {
			after?: string;
			application: string;
			before?: string;
			change: string;
			group?: string;
			images?: string[] | null;
			kind: string;
			manifestAfter?: unknown;
			manifestBefore?: unknown;
			name: string;
			namespace?: string;
		};
		LedgerEntry: {
			action: string;
			actor?: string;
			agent: string;
			applicationUID?: string;
			/** Format: date-time */
			appliedAt?: string;
			argoProject?: string;
			automatic?: boolean;
			command?: string;
			commit?: components["schemas"]["LedgerCommit"];
			counts: components["schemas"]["LedgerCounts"];
			decisions?: components["schemas"]["LedgerDecision"][] | null;
			destination?: string;
			/** Format: date-time */
			detectedAt?: string;
			engine?: string;
			environment?: string;
			/** Format: date-time */
			finishedAt: string;
			health?: string;
			/** Format: date-time */
			healthyAt?: string;
			id: string;
			message?: string;
			name: string;
			namespace: string;
			notes?: string[] | null;
			options?: components["schemas"]["LedgerOptions"];
			phase: string;
			reason?: string;
			recovered?: boolean;
			/** Format: date-time */
			renderedAt?: string;
			/** Format: int64 */
			repeats?: number;
			/** Format: int64 */
			retries?: number;
			revision?: string;
			scope: string;
			service?: string;
			sources?: components["schemas"]["LedgerSource"][] | null;
			/** Format: date-time */
			startedAt: string;
		};
		LedgerManifest: {
			group?: string;
			hash: string;
			kind: string;
			manifest?: unknown;
			name: string;
			namespace?: string;
		};
		LedgerManifests: {
			manifests: components["schemas"]["LedgerManifest"][] | null;
			truncated?: boolean;
		};
		LedgerObject: {
			group?: string;
			hash: string;
			hook?: boolean;
			images?: string[] | null;
			kind: string;
			lacking?: boolean;
			name: string;
			namespace?: string;
		};
		LedgerObjectChange: {
			change: components["schemas"]["LedgerChange"];
			entry: components["schemas"]["LedgerEntry"];
			hash?: string;
		};
		LedgerOptions: {
			dryRun?: boolean;
			local?: boolean;
			prune?: boolean;
			repair?: boolean;
			resources?: string[] | null;
			syncOptions?: string[] | null;
		};
		LedgerSource: {
			before?: string;
			chart?: string;
			path?: string;
			repoURL?: string;
			revision?: string;
			targetRevision?: string;
			tool?: string;
		};
		LedgerState: {
			entry: components["schemas"]["LedgerEntry"];
			later?: string[] | null;
			objects: components["schemas"]["LedgerObject"][] | null;
		};
		Link: {
			description?: string;
			iconClass?: string;
			title: string;
			url: string;
		};
		LinkPlan: {
			environments: string[] | null;
			items: components["schemas"]["LinkProposal"][] | null;
			services: string[] | null;
		};
		LinkProposal: {
			application: string;
			environment?: string;
			link?: boolean;
			makesEnvironment?: boolean;
			makesService?: boolean;
			service?: string;
			why: string;
		};
		Links: {
			links: components["schemas"]["Link"][] | null;
			problems?: string[] | null;
		};
		ManifestsAnswer: {
			items: unknown[] | null;
			nextCursor?: string;
			revisions?: string[] | null;
			warnings?: string[] | null;
		};
		Mapping: {
			readonly agent?: string;
			argoProject: string;
			/** Format: date-time */
			readonly createdAt?: string;
			project: string;
			/** Format: date-time */
			readonly updatedAt?: string;
			/** Format: int64 */
			version?: number;
		};
		NotificationChannel: {
			/** Format: date-time */
			readonly createdAt?: string;
			description?: string;
			displayName?: string;
			readonly id?: string;
			/** @enum {string} */
			kind: "slack" | "teams" | "email" | "webhook" | "pagerduty" | "opsgenie" | "discord" | "telegram" | "googlechat" | "mattermost" | "matrix" | "rocketchat" | "zulip" | "ntfy" | "gotify" | "pushover";
			labels?: {
				[key: string]: string;
			};
			name: string;
			options?: {
				[key: string]: string;
			};
			scope?: string;
			secret: string;
			/** Format: date-time */
			readonly updatedAt?: string;
			url?: string;
			/** Format: int64 */
			version?: number;
		};
		NotificationDelivery: {
			/** Format: int64 */
			attempts: number;
			channel: string;
			/** Format: date-time */
			createdAt: string;
			event: components["schemas"]["NotificationEvent"];
			/** Format: date-time */
			finishedAt?: string;
			id: string;
			message?: string;
			/** Format: date-time */
			nextAt?: string;
			rule: string;
			scope: string;
			state: string;
			text: string;
			title: string;
		};
		NotificationEvent: {
			action?: string;
			actor?: string;
			agent?: string;
			/** Format: date-time */
			at: string;
			author?: string;
			automatic?: boolean;
			environment?: string;
			event: string;
			/** Format: date-time */
			expiresAt?: string;
			health?: string;
			id: string;
			labels?: {
				[key: string]: string;
			};
			ledger?: string;
			message?: string;
			name: string;
			namespace?: string;
			object: components["schemas"]["Ref"];
			revision?: string;
			service?: string;
			/** Format: date-time */
			since?: string;
			subject?: string;
			sync?: string;
		};
		NotificationResult: {
			message?: string;
			sent: boolean;
		};
		NotificationRule: {
			after?: string;
			before?: string;
			channel: string;
			/** Format: date-time */
			readonly createdAt?: string;
			description?: string;
			displayName?: string;
			environments?: string[] | null;
			events: ("sync.succeeded" | "sync.failed" | "out-of-sync" | "degraded" | "healthy" | "held" | "drift" | "drift.reverted" | "deleted" | "agent.disconnected" | "agent.connected" | "certificate.expiring" | "token.expiring")[] | null;
			readonly id?: string;
			labels?: {
				[key: string]: string;
			};
			name: string;
			paused?: boolean;
			repeat?: string;
			scope?: string;
			selector?: string;
			services?: string[] | null;
			text?: string;
			title?: string;
			/** Format: date-time */
			readonly updatedAt?: string;
			/** Format: int64 */
			version?: number;
		};
		NotificationText: {
			event: components["schemas"]["NotificationEvent"];
			text: string;
			title: string;
		};
		ObjectDiff: {
			allowed?: components["schemas"]["AllowedDrift"];
			diff: string;
			error?: string;
			fields?: components["schemas"]["FieldDiff"][] | null;
			group?: string;
			kind: string;
			name: string;
			namespace?: string;
			/** @enum {string} */
			verb: "create" | "update" | "delete" | "keep";
		};
		ObjectName: {
			group?: string;
			kind: string;
			name: string;
			namespace?: string;
		};
		ObjectWrite: {
			base?: unknown;
			reason?: string;
			resource: unknown;
			upsert?: boolean;
		};
		OperationItem: {
			group?: string;
			hook?: string;
			kind: string;
			message?: string;
			name: string;
			namespace?: string;
			/** @enum {string} */
			state: "waiting" | "running" | "succeeded" | "failed" | "pruned" | "skipped";
			/** @enum {string} */
			verb: "apply" | "delete" | "hook";
		};
		OperationProgress: {
			/** Format: int64 */
			done: number;
			/** Format: int64 */
			total: number;
		};
		OperationStep: {
			items: components["schemas"]["OperationItem"][] | null;
			/** @enum {string} */
			phase: "PreSync" | "Sync" | "PostSync" | "SyncFail" | "PreDelete" | "PostDelete";
			/** Format: int64 */
			wave: number;
		};
		OperationTimeline: {
			automatic: boolean;
			dryRun?: boolean;
			/** Format: date-time */
			finishedAt?: string;
			initiatedBy?: string;
			message?: string;
			phase: string;
			progress: components["schemas"]["OperationProgress"];
			/** Format: int64 */
			retryCount: number;
			revisions: string[] | null;
			/** Format: date-time */
			startedAt?: string;
			steps: components["schemas"]["OperationStep"][] | null;
			warnings: string[] | null;
		};
		Organization: {
			/** Format: date-time */
			readonly createdAt?: string;
			description?: string;
			displayName?: string;
			readonly id?: string;
			labels?: {
				[key: string]: string;
			};
			name: string;
			scope?: string;
			/** Format: date-time */
			readonly updatedAt?: string;
			/** Format: int64 */
			version?: number;
		};
		OutBody: {
			permissions: string[] | null;
		};
		Overview: {
			agents: {
				[key: string]: number;
			};
			/** Format: int64 */
			applications: number;
			/** Format: int64 */
			clusters: number;
			health: {
				[key: string]: number;
			};
			/** Format: int64 */
			repositories: number;
			sync: {
				[key: string]: number;
			};
		};
		PageAgent: {
			items: components["schemas"]["Agent"][] | null;
			nextCursor?: string;
			/** Format: int64 */
			total: number;
		};
		PageAgentRelease: {
			items: components["schemas"]["AgentRelease"][] | null;
			nextCursor?: string;
			/** Format: int64 */
			total: number;
		};
		PageApplication: {
			items: components["schemas"]["Application"][] | null;
			nextCursor?: string;
			/** Format: int64 */
			total: number;
		};
		PageAuditEntry: {
			items: components["schemas"]["AuditEntry"][] | null;
			nextCursor?: string;
			/** Format: int64 */
			total: number;
		};
		PageBinding: {
			items: components["schemas"]["Binding"][] | null;
			nextCursor?: string;
			/** Format: int64 */
			total: number;
		};
		PageCommand: {
			items: components["schemas"]["Command"][] | null;
			nextCursor?: string;
			/** Format: int64 */
			total: number;
		};
		PageEnvironment: {
			items: components["schemas"]["Environment"][] | null;
			nextCursor?: string;
			/** Format: int64 */
			total: number;
		};
		PageGroup: {
			items: components["schemas"]["Group"][] | null;
			nextCursor?: string;
			/** Format: int64 */
			total: number;
		};
		PageInstances: {
			items: components["schemas"]["Instances"][] | null;
			nextCursor?: string;
			/** Format: int64 */
			total: number;
		};
		PageItem: {
			items: components["schemas"]["Item"][] | null;
			nextCursor?: string;
			/** Format: int64 */
			total: number;
		};
		PageJob: {
			items: components["schemas"]["Job"][] | null;
			nextCursor?: string;
			/** Format: int64 */
			total: number;
		};
		PageJobTarget: {
			items: components["schemas"]["JobTarget"][] | null;
			nextCursor?: string;
			/** Format: int64 */
			total: number;
		};
		PageLedgerEntry: {
			items: components["schemas"]["LedgerEntry"][] | null;
			nextCursor?: string;
			/** Format: int64 */
			total: number;
		};
		PageLedgerObjectChange: {
			items: components["schemas"]["LedgerObjectChange"][] | null;
			nextCursor?: string;
			/** Format: int64 */
			total: number;
		};
		PageLedgerState: {
			items: components["schemas"]["LedgerState"][] | null;
			nextCursor?: string;
			/** Format: int64 */
			total: number;
		};
		PageMapping: {
			items: components["schemas"]["Mapping"][] | null;
			nextCursor?: string;
			/** Format: int64 */
			total: number;
		};
		PageNotificationChannel: {
			items: components["schemas"]["NotificationChannel"][] | null;
			nextCursor?: string;
			/** Format: int64 */
			total: number;
		};
		PageNotificationDelivery: {
			items: components["schemas"]["NotificationDelivery"][] | null;
			nextCursor?: string;
			/** Format: int64 */
			total: number;
		};
		PageNotificationRule: {
			items: components["schemas"]["NotificationRule"][] | null;
			nextCursor?: string;
			/** Format: int64 */
			total: number;
		};
		PageOrganization: {
			items: components["schemas"]["Organization"][] | null;
			nextCursor?: string;
			/** Format: int64 */
			total: number;
		};
		PageProject: {
			items: components["schemas"]["Project"][] | null;
			nextCursor?: string;
			/** Format: int64 */
			total: number;
		};
		PageResourceGroup: {
			items: components["schemas"]["ResourceGroup"][] | null;
			nextCursor?: string;
			/** Format: int64 */
			total: number;
		};
		PageRole: {
			items: components["schemas"]["Role"][] | null;
			nextCursor?: string;
			/** Format: int64 */
			total: number;
		};
		PageService: {
			items: components["schemas"]["Service"][] | null;
			nextCursor?: string;
			/** Format: int64 */
			total: number;
		};
		PageServiceAccount: {
			items: components["schemas"]["ServiceAccount"][] | null;
			nextCursor?: string;
			/** Format: int64 */
			total: number;
		};
		PageServiceRow: {
			items: components["schemas"]["ServiceRow"][] | null;
			nextCursor?: string;
			/** Format: int64 */
			total: number;
		};
		PageToken: {
			items: components["schemas"]["Token"][] | null;
			nextCursor?: string;
			/** Format: int64 */
			total: number;
		};
		PageUpgrade: {
			items: components["schemas"]["Upgrade"][] | null;
			nextCursor?: string;
			/** Format: int64 */
			total: number;
		};
		PageUser: {
			items: components["schemas"]["User"][] | null;
			nextCursor?: string;
			/** Format: int64 */
			total: number;
		};
		PasswordChange: {
			current: string;
			endTokens?: boolean;
			new: string;
		};
		PasswordReset: {
			password: string;
		};
		PlanCounts: {
			/** Format: int64 */
			create: number;
			/** Format: int64 */
			delete: number;
			/** Format: int64 */
			hooks: number;
			/** Format: int64 */
			unchanged: number;
			/** Format: int64 */
			update: number;
		};
		PlanGuard: {
			budget?: string;
			confirmed?: boolean;
			/** Format: int64 */
			deletions: number;
			held: boolean;
			/** @enum {string} */
			of?: "Application" | "project" | "agent";
			reason?: string;
			/** Format: int64 */
			total: number;
		};
		PlanItem: {
			confirm?: boolean;
			diff?: string;
			error?: string;
			group?: string;
			hook?: string;
			kind: string;
			name: string;
			namespace?: string;
			reason?: string;
			/** @enum {string} */
			verb: "create" | "update" | "delete" | "keep" | "hook";
		};
		PlanPhase: {
			/** @enum {string} */
			phase: "PreSync" | "Sync" | "PostSync" | "SyncFail" | "PreDelete" | "PostDelete";
			waves: components["schemas"]["PlanWave"][] | null;
		};
		PlanWave: {
			items: components["schemas"]["PlanItem"][] | null;
			/** Format: int64 */
			wave: number;
		};
		PlanWindows: {
			allowed: boolean;
			automatic: boolean;
			reason?: string;
			/** Format: date-time */
			until?: string;
		};
		PluginParameter: {
			array?: string[] | null;
			collectionType?: string;
			itemType?: string;
			map?: {
				[key: string]: string;
			};
			name: string;
			required?: boolean;
			string?: string;
			title?: string;
			tooltip?: string;
		};
		Preview: {
			counts: components["schemas"]["PreviewCounts"];
			manifests?: unknown[] | null;
			objects: components["schemas"]["PreviewObject"][] | null;
			problems: components["schemas"]["PreviewProblem"][] | null;
			quick?: boolean;
			revisions: string[] | null;
			valid: boolean;
			warnings?: string[] | null;
		};
		PreviewCounts: {
			/** Format: int64 */
			create: number;
			/** Format: int64 */
			delete: number;
			/** Format: int64 */
			error: number;
			/** Format: int64 */
			hooks: number;
			/** Format: int64 */
			unchanged: number;
			/** Format: int64 */
			update: number;
		};
		PreviewObject: {
			diff?: string;
			error?: string;
			group?: string;
			hook?: string;
			kind: string;
			name: string;
			namespace?: string;
			/** @enum {string} */
			verb: "create" | "update" | "delete" | "keep" | "error";
			/** Format: int64 */
			wave: number;
		};
		PreviewProblem: {
			field: string;
			/** @enum {string} */
			level: "error" | "warning";
			message: string;
		};
		PreviewRequest: {
			base?: unknown;
			resource: unknown;
			update?: boolean;
		};
		Principal: {
			id: string;
			type: string;
		};
		Problem: {
			/** @enum {string} */
			code: "invalid" | "unauthenticated" | "forbidden" | "not_found" | "conflict" | "too_large" | "too_many_requests" | "unavailable" | "internal";
			detail: string;
			errors?: components["schemas"]["FieldProblem"][] | null;
			references?: components["schemas"]["Ref"][] | null;
			requestId?: string;
			/** Format: int64 */
			status: number;
			title: string;
			traceId?: string;
			type?: string;
		};
		Project: {
			/** Format: date-time */
			readonly createdAt?: string;
			description?: string;
			displayName?: string;
			readonly id?: string;
			labels?: {
				[key: string]: string;
			};
			name: string;
			organization: string;
			scope?: string;
			/** Format: date-time */
			readonly updatedAt?: string;
			/** Format: int64 */
			version?: number;
		};
		Quantiles: {
			/** Format: int64 */
			count: number;
			/** Format: double */
			p50?: number;
			/** Format: double */
			p90?: number;
			/** Format: double */
			p99?: number;
		};
		Ref: {
			id: string;
			scope?: string;
			type: string;
		};
		RefreshRequest: {
			hard?: boolean;
			reason?: string;
		};
		RepositoryChart: {
			description?: string;
			name: string;
			versions: string[] | null;
		};
		RepositoryPath: {
			path: string;
			/** @enum {string} */
			tool: "helm" | "kustomize" | "jsonnet" | "directory" | "plugin" | "";
			/** @enum {string} */
			type: "directory" | "file";
		};
		RepositoryPaths: {
			details?: components["schemas"]["SourceDetails"];
			items: components["schemas"]["RepositoryPath"][] | null;
			path: string;
			plugins?: string[] | null;
			revision: string;
			/** @enum {string} */
			tool: "helm" | "kustomize" | "jsonnet" | "directory" | "plugin" | "";
			truncated?: boolean;
			valueFiles?: string[] | null;
			warnings?: string[] | null;
		};
		RepositoryRef: {
			commit: string;
			name: string;
		};
		RepositoryRefs: {
			branches: components["schemas"]["RepositoryRef"][] | null;
			charts?: components["schemas"]["RepositoryChart"][] | null;
			default?: string;
			tags: components["schemas"]["RepositoryRef"][] | null;
			truncated?: boolean;
		};
		ResourceAction: {
			action: string;
			dryRun?: boolean;
			parameters?: {
				[key: string]: string;
			};
			reason?: string;
			resource: components["schemas"]["ResourceRef"];
		};
		ResourceActionInfo: {
			disabled?: boolean;
			displayName?: string;
			name: string;
			parameters?: components["schemas"]["ResourceActionParameter"][] | null;
		};
		ResourceActionParameter: {
			default?: string;
			name: string;
		};
		ResourceActions: {
			actions: components["schemas"]["ResourceActionInfo"][] | null;
		};
		ResourceEvent: {
			/** Format: int64 */
			count: number;
			/** Format: date-time */
			first?: string;
			/** Format: date-time */
			last?: string;
			message: string;
			reason: string;
			source?: string;
			type: string;
		};
		ResourceEvents: {
			events: components["schemas"]["ResourceEvent"][] | null;
		};
		ResourceGroup: {
			all?: boolean;
			readonly builtIn?: boolean;
			/** Format: date-time */
			readonly createdAt?: string;
			description?: string;
			displayName?: string;
			readonly id?: string;
			ids?: string[] | null;
			labels?: {
				[key: string]: string;
			};
			name: string;
			scope?: string;
			selectors?: string[] | null;
			types?: string[] | null;
			/** Format: date-time */
			readonly updatedAt?: string;
			/** Format: int64 */
			version?: number;
		};
		ResourcePatch: {
			dryRun?: boolean;
			patch: unknown;
			reason?: string;
			resource: components["schemas"]["ResourceRef"];
			/** @enum {string} */
			type: "merge" | "json" | "strategic";
		};
		ResourceRef: {
			group?: string;
			kind: string;
			name: string;
			namespace?: string;
			version?: string;
		};
		ResourceState: {
			desired: unknown;
			live: unknown;
		};
		RestoreRequest: {
			dryRun?: boolean;
			/** Format: int64 */
			from?: number;
			objects?: components["schemas"]["ObjectName"][] | null;
			reason?: string;
		};
		RevertRequest: {
			dryRun?: boolean;
			objects?: components["schemas"]["ObjectName"][] | null;
			reason?: string;
		};
		RevisionInfo: {
			author?: components["schemas"]["RevisionPerson"];
			/** Format: date-time */
			date?: string;
			known: boolean;
			message?: string;
			reason?: string;
			repoURL?: string;
			revision: string;
			/** @enum {string} */
			signature?: "gpg" | "ssh" | "x509" | "unknown";
			tags?: string[] | null;
			webURL: string;
		};
		RevisionPerson: {
			email?: string;
			name: string;
		};
		RevisionStatus: {
			/** Format: date-time */
			comparedAt?: string;
			/** Format: date-time */
			deployedAt?: string;
			/** Format: int64 */
			deployment?: number;
			/** Format: int64 */
			pinned?: number;
			/** Format: date-time */
			pinnedAt?: string;
			same?: boolean;
			sources: components["schemas"]["SourceRevisions"][] | null;
			warnings?: string[] | null;
		};
		RevisionsAnswer: {
			items: components["schemas"]["RevisionInfo"][] | null;
		};
		Role: {
			readonly builtIn?: boolean;
			/** Format: date-time */
			readonly createdAt?: string;
			description?: string;
			displayName?: string;
			readonly id?: string;
			labels?: {
				[key: string]: string;
			};
			name: string;
			permissions: string[] | null;
			scope?: string;
			/** Format: date-time */
			readonly updatedAt?: string;
			/** Format: int64 */
			version?: number;
		};
		RollbackRequest: {
			dryRun?: boolean;
			/** Format: int64 */
			id?: number;
			reason?: string;
			revision?: string;
		};
		ServerInfo: {
			badges?: boolean;
			banner?: components["schemas"]["Banner"];
			demo?: boolean;
			hosts: boolean;
			publicURL: string;
			version: string;
		};
		Service: {
			/** Format: date-time */
			readonly createdAt?: string;
			description?: string;
			displayName?: string;
			readonly id?: string;
			labels?: {
				[key: string]: string;
			};
			name: string;
			scope?: string;
			/** Format: date-time */
			readonly updatedAt?: string;
			/** Format: int64 */
			version?: number;
		};
		ServiceAccount: {
			/** Format: date-time */
			readonly createdAt?: string;
			description?: string;
			disabled?: boolean;
			displayName?: string;
			readonly id?: string;
			labels?: {
				[key: string]: string;
			};
			name: string;
			scope?: string;
			/** Format: date-time */
			readonly updatedAt?: string;
			/** Format: int64 */
			version?: number;
		};
		ServiceApplication: {
			chart?: string;
			commit?: string;
			health: string;
			id: string;
			image?: string;
			/** Format: int64 */
			ready: number;
			/** Format: date-time */
			since?: string;
			/** Format: date-time */
			staleSince?: string;
			sync: string;
			tag?: string;
			/** Format: int64 */
			total: number;
			version?: string;
		};
		ServiceCell: {
			applications: components["schemas"]["ServiceApplication"][] | null;
			chart?: string;
			commit?: string;
			environment: string;
			health: string;
			image?: string;
			mixed?: boolean;
			/** Format: int64 */
			ready: number;
			region?: string;
			/** Format: date-time */
			since?: string;
			sync: string;
			tag?: string;
			/** Format: int64 */
			total: number;
			/** @enum {string} */
			type?: "Production" | "PreProduction";
			version?: string;
		};
		ServiceDrift: {
			behind: string;
			/** @enum {string} */
			by: "version" | "time";
			environment: string;
			newest: string;
			version: string;
		};
		ServiceLevel: {
			application: string;
			applied: components["schemas"]["Quantiles"];
			/** Format: int64 */
			deliveries: number;
			detected: components["schemas"]["Quantiles"];
			healthy: components["schemas"]["Quantiles"];
			rendered: components["schemas"]["Quantiles"];
			whole: components["schemas"]["Quantiles"];
		};
		ServiceLevels: {
			all: components["schemas"]["ServiceLevel"];
			applications: components["schemas"]["ServiceLevel"][] | null;
			/** Format: date-time */
			from: string;
			/** Format: int64 */
			more?: number;
			/** Format: date-time */
			to: string;
		};
		ServiceRow: {
			cells: components["schemas"]["ServiceCell"][] | null;
			displayName?: string;
			drift?: components["schemas"]["ServiceDrift"][] | null;
			name: string;
			scope: string;
			service: string;
		};
		Session: {
			/** Format: date-time */
			expiresAt: string;
			token?: string;
			tokenId?: string;
			user: components["schemas"]["User"];
		};
		SettingStep: {
			detail?: string;
			/** @enum {string} */
			layer: "name" | "connection" | "proxy" | "TLS" | "host key" | "authentication" | "repository" | "revision";
			/** Format: int64 */
			millis?: number;
			next?: string;
			/** @enum {string} */
			status: "ok" | "failed" | "skipped";
		};
		SettingTest: {
			message?: string;
			ok: boolean;
			steps?: components["schemas"]["SettingStep"][] | null;
		};
		SettingWrite: {
			fields: {
				[key: string]: string;
			};
			labels?: {
				[key: string]: string;
			};
			name?: string;
			reason?: string;
			revision?: string;
			sealed?: string;
			test?: boolean;
			upsert?: boolean;
			version?: string;
		};
		Settings: {
			/** Format: int64 */
			auditRetentionDays: number;
			badges?: boolean;
			banner?: components["schemas"]["Banner"];
			/** Format: int64 */
			commandRetentionDays: number;
			/**
			 * Format: int64
			 * @default 400
			 */
			ledgerRetentionDays: number;
			/**
			 * Format: int64
			 * @default 10
			 */
			ledgerRetentionGiB: number;
			/** Format: int64 */
			version?: number;
		};
		SignIn: {
			password: string;
			token?: string;
			username: string;
		};
		SignInMethods: {
			oidc?: string;
			oidcName?: string;
			password: boolean;
		};
		SourceDetails: {
			helm?: components["schemas"]["ChartDetails"];
			kustomize?: components["schemas"]["KustomizeDetails"];
			/** Format: int64 */
			manifests?: number;
			parameters?: components["schemas"]["PluginParameter"][] | null;
		};
		SourceRevisions: {
			compared?: string;
			deployed?: string;
			pinned?: string;
			repoURL: string;
			targetRevision: string;
			tip?: string;
			tipError?: string;
			/** Format: date-time */
			tipSeenAt?: string;
		};
		SyncPlan: {
			counts: components["schemas"]["PlanCounts"];
			digest?: string;
			guard: components["schemas"]["PlanGuard"];
			phases: components["schemas"]["PlanPhase"][] | null;
			refused?: string;
			revisions: string[] | null;
			warnings: string[] | null;
			windows: components["schemas"]["PlanWindows"];
		};
		SyncRequest: {
			applyOnly?: boolean;
			dryRun?: boolean;
			force?: boolean;
			labels?: string[] | null;
			manifests?: string[] | null;
			objects?: components["schemas"]["ObjectName"][] | null;
			options?: string[] | null;
			prune?: boolean;
			reason?: string;
			replace?: boolean;
			retry?: components["schemas"]["SyncRetry"];
			revisions?: string[] | null;
			serverSide?: boolean;
		};
		SyncRetry: {
			duration?: string;
			/** Format: int64 */
			factor?: number;
			/** Format: int64 */
			limit: number;
			maxDuration?: string;
			refresh?: boolean;
		};
		Target: {
			agent: string;
			name: string;
			namespace: string;
		};
		TerminateRequest: {
			dryRun?: boolean;
			reason?: string;
		};
		Token: {
			/** Format: date-time */
			readonly createdAt?: string;
			/** Format: date-time */
			expiresAt?: string;
			readonly id?: string;
			/** Format: date-time */
			readonly lastUsedAt?: string;
			name: string;
			owner?: components["schemas"]["Principal"];
			permissions?: string[] | null;
			scope?: string;
		};
		TokenCreated: {
			/** Format: date-time */
			readonly createdAt?: string;
			/** Format: date-time */
			expiresAt?: string;
			readonly id?: string;
			/** Format: date-time */
			readonly lastUsedAt?: string;
			name: string;
			owner?: components["schemas"]["Principal"];
			permissions?: string[] | null;
			scope?: string;
			secret: string;
		};
		TreeAnswer: {
			items: components["schemas"]["TreeNode"][] | null;
			warnings?: string[] | null;
		};
		TreeNode: {
			addresses?: string[] | null;
			children?: components["schemas"]["TreeNode"][] | null;
			/** Format: date-time */
			createdAt?: string;
			group?: string;
			health?: string;
			hook?: string[] | null;
			images?: string[] | null;
			kind: string;
			message?: string;
			name: string;
			namespace?: string;
			pod?: components["schemas"]["TreePod"];
			replicas?: components["schemas"]["TreeReplicas"];
			requiresPruning?: boolean;
			/** Format: int64 */
			revision?: number;
			routes?: string[] | null;
			sync?: string;
			uid?: string;
			urls?: string[] | null;
			version?: string;
			/** Format: int64 */
			wave?: number;
		};
		TreePod: {
			/** Format: int64 */
			containers: number;
			ip?: string;
			node?: string;
			phase?: string;
			/** Format: int64 */
			ready: number;
			reason?: string;
			/** Format: int64 */
			restarts?: number;
		};
		TreeReplicas: {
			/** Format: int64 */
			desired: number;
			/** Format: int64 */
			ready: number;
		};
		UnpinRequest: {
			dryRun?: boolean;
			reason?: string;
		};
		Upgrade: {
			back?: boolean;
			by: components["schemas"]["Principal"];
			counts: components["schemas"]["UpgradeCounts"];
			/** Format: date-time */
			createdAt?: string;
			/** Format: date-time */
			finishedAt?: string;
			id?: string;
			message?: string;
			request: components["schemas"]["UpgradeRequest"];
			/** Format: date-time */
			resumedAt?: string;
			/** @enum {string} */
			state: "running" | "done" | "stopped" | "failed" | "rolled-back";
			/** Format: int64 */
			step: number;
			/** Format: int64 */
			steps: number;
			stoppedBy?: string;
		};
		UpgradeCounts: {
			/** Format: int64 */
			done: number;
			/** Format: int64 */
			failed: number;
			/** Format: int64 */
			rolledBack: number;
			/** Format: int64 */
			skipped: number;
			/** Format: int64 */
			total: number;
			/** Format: int64 */
			underWay: number;
			/** Format: int64 */
			waiting: number;
		};
		UpgradePlan: {
			targets: components["schemas"]["UpgradeTarget"][] | null;
			upgrade: components["schemas"]["Upgrade"];
		};
		UpgradeRequest: {
			agents?: string[] | null;
			allowDowngrade?: boolean;
			/** Format: int64 */
			canary?: number;
			canarySelector?: {
				[key: string]: string;
			};
			/** Format: int64 */
			holdSeconds?: number;
			/** Format: int64 */
			maxUnavailable?: number;
			reason?: string;
			release?: string;
			scope?: string;
			selector?: {
				[key: string]: string;
			};
			steps?: number[] | null;
			/** Format: int64 */
			timeoutSeconds?: number;
		};
		UpgradeTarget: {
			agent: string;
			answered?: boolean;
			command?: string;
			digest?: string;
			/** Format: int64 */
			failedBefore: number;
			/** Format: int64 */
			failedNow: number;
			/** Format: date-time */
			finishedAt?: string;
			from?: string;
			fromVersion?: string;
			/** Format: date-time */
			healthyAt?: string;
			message?: string;
			/** Format: int64 */
			place: number;
			/** Format: date-time */
			startedAt?: string;
			/** @enum {string} */
			state: "waiting" | "upgrading" | "checking" | "done" | "rolling-back" | "rolled-back" | "failed" | "refused" | "skipped";
			/** Format: int64 */
			step: number;
			version?: string;
		};
		User: {
			/** Format: date-time */
			readonly createdAt?: string;
			description?: string;
			disabled?: boolean;
			displayName?: string;
			email?: string;
			readonly groups?: string[] | null;
			readonly id?: string;
			labels?: {
				[key: string]: string;
			};
			/** Format: date-time */
			readonly lastSignInAt?: string;
			/** Format: date-time */
			readonly lockedUntil?: string;
			mustChangePassword?: boolean;
			name: string;
			/** @enum {string} */
			readonly origin?: "local" | "oidc";
			scope?: string;
			/** Format: date-time */
			readonly updatedAt?: string;
			/** Format: int64 */
			version?: number;
		};
		UserCreate: {
			/** Format: date-time */
			readonly createdAt?: string;
			description?: string;
			disabled?: boolean;
			displayName?: string;
			email?: string;
			readonly groups?: string[] | null;
			readonly id?: string;
			labels?: {
				[key: string]: string;
			};
			/** Format: date-time */
			readonly lastSignInAt?: string;
			/** Format: date-time */
			readonly lockedUntil?: string;
			mustChangePassword?: boolean;
			name: string;
			/** @enum {string} */
			readonly origin?: "local" | "oidc";
			password?: string;
			scope?: string;
			/** Format: date-time */
			readonly updatedAt?: string;
			/** Format: int64 */
			version?: number;
		};
		UserCreated: {
			/** Format: date-time */
			readonly createdAt?: string;
			description?: string;
			disabled?: boolean;
			displayName?: string;
			email?: string;
			readonly groups?: string[] | null;
			readonly id?: string;
			labels?: {
				[key: string]: string;
			};
			/** Format: date-time */
			readonly lastSignInAt?: string;
			/** Format: date-time */
			readonly lockedUntil?: string;
			mustChangePassword?: boolean;
			name: string;
			/** @enum {string} */
			readonly origin?: "local" | "oidc";
			password?: string;
			scope?: string;
			/** Format: date-time */
			readonly updatedAt?: string;
			/** Format: int64 */
			version?: number;
		};
		View: {
			/** Format: date-time */
			readonly createdAt?: string;
			description?: string;
			everyone?: boolean;
			filter: components["schemas"]["FleetFilter"];
			name: string;
			/** Format: date-time */
			readonly updatedAt?: string;
		};
		Views: {
			items: components["schemas"]["View"][] | null;
		};
		Whoami: {
			/** Format: date-time */
			expiresAt?: string;
			grants: components["schemas"]["Grant"][] | null;
			groups?: string[] | null;
			principal: components["schemas"]["Principal"];
			token?: components["schemas"]["Token"];
			user?: components["schemas"]["User"];
		};
		Why: {
			agentAway?: boolean;
			/** Format: date-time */
			asOf?: string;
			name: string;
			reasons: components["schemas"]["WhyReason"][] | null;
			/** Format: date-time */
			since?: string;
			stale?: boolean;
			state: string;
			warnings?: string[] | null;
			window?: components["schemas"]["WhyWindow"];
		};
		WhyAction: {
			/** @enum {string} */
			action: "sync" | "refresh" | "confirm" | "unpin" | "rollback" | "terminate" | "revert" | "allow" | "resource-action";
			hard?: boolean;
			objects?: components["schemas"]["ObjectName"][] | null;
			plan?: string;
			prune?: boolean;
		};
		WhyReason: {
			actions?: components["schemas"]["WhyAction"][] | null;
			code: string;
			finding?: components["schemas"]["Finding"];
			next: string;
			objects?: components["schemas"]["ObjectName"][] | null;
			/** Format: date-time */
			since?: string;
			what: string;
			why?: string;
		};
		WhyWindow: {
			manual: boolean;
			reason: string;
			/** Format: date-time */
			until?: string;
		};
	};
	responses: {
		problem: {
			headers: {
				[name: string]: unknown;
			};
			content: {
				"application/problem+json": components["schemas"]["Problem"];
			};
		};
	};
	parameters: never;
	requestBodies: never;
	headers: never;
	pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
	"access-can": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["AccessQuestion"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["AccessAnswer"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"list-permissions": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["OutBody"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"list-agent-releases": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageAgentRelease"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"add-agent-releases": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["AgentStatement"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageAgentRelease"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"list-agent-upgrades": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageUpgrade"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"create-agent-upgrade": {
		parameters: {
			query?: {
				dryRun?: boolean;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["UpgradeRequest"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["UpgradePlan"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"get-agent-upgrade": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["UpgradePlan"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"resume-agent-upgrade": {
		parameters: {
			query?: {
				dryRun?: boolean;
			};
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Upgrade"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"rollback-agent-upgrade": {
		parameters: {
			query?: {
				dryRun?: boolean;
			};
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Upgrade"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"stop-agent-upgrade": {
		parameters: {
			query?: {
				dryRun?: boolean;
			};
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Upgrade"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"get-agent-versions": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["AgentVersions"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"set-agent-versions": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["AgentVersions"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["AgentVersions"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"list-agents": {
		parameters: {
			query?: {
				limit?: number;
				cursor?: string;
				page?: number;
				sort?: string;
				search?: string;
				scope?: string;
				label?: string[] | null;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageAgent"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"create-agent": {
		parameters: {
			query?: {
				dryRun?: boolean;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["Agent"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["AgentRegistration"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"create-application": {
		parameters: {
			query?: {
				wait?: number;
				dryRun?: boolean;
			};
			header?: never;
			path: {
				agent: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["ObjectWrite"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"preview-application": {
		parameters: {
			query?: {
				quick?: boolean;
				manifests?: boolean;
			};
			header?: never;
			path: {
				agent: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["PreviewRequest"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Preview"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"get-application": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["ApplicationDetail"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"update-application": {
		parameters: {
			query?: {
				wait?: number;
				dryRun?: boolean;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["ObjectWrite"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"delete-application": {
		parameters: {
			query?: {
				wait?: number;
				dryRun?: boolean;
				cascade?: boolean;
				propagation?: "foreground" | "background";
				version?: string;
				force?: boolean;
				forget?: boolean;
				reason?: string;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"allow-drift": {
		parameters: {
			query?: {
				wait?: number;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["AllowRequest"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"application-badge": {
		parameters: {
			query?: {
				showAppName?: boolean;
				revision?: boolean;
			};
			header?: {
				"If-None-Match"?: string;
			};
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					"Cache-Control"?: string;
					"Content-Type"?: string;
					"Cross-Origin-Resource-Policy"?: string;
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": string;
				};
			};
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"confirm-deletion": {
		parameters: {
			query?: {
				wait?: number;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["ConfirmRequest"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"diff-application": {
		parameters: {
			query?: {
				revision?: string;
				drift?: boolean;
				ignored?: boolean;
				cursor?: string;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["DiffAnswer"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"application-history": {
		parameters: {
			query?: {
				limit?: number;
				cursor?: string;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["DeploymentHistory"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"get-application-link": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["ApplicationLinked"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"link-application": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["ApplicationLink"];
			};
		};
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["ApplicationLinked"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"unlink-application": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			204: {
				headers: {
					[name: string]: unknown;
				};
				content?: never;
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"application-links": {
		parameters: {
			query?: {
				group?: string;
				version?: string;
				kind?: string;
				resourceNamespace?: string;
				resourceName?: string;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Links"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"application-logs": {
		parameters: {
			query?: {
				group?: string;
				version?: string;
				kind?: string;
				resourceNamespace?: string;
				resourceName?: string;
				container?: string;
				follow?: boolean;
				previous?: boolean;
				since?: number;
				sinceTime?: string;
				tail?: number;
				search?: string;
				invert?: boolean;
				ignoreCase?: boolean;
				timestamps?: boolean;
			};
			header?: {
				Accept?: string;
			};
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content?: never;
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"application-manifests": {
		parameters: {
			query?: {
				revision?: string;
				live?: boolean;
				cursor?: string;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["ManifestsAnswer"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"get-operation": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["OperationTimeline"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"plan-sync": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["SyncRequest"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["SyncPlan"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"refresh-application": {
		parameters: {
			query?: {
				wait?: number;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["RefreshRequest"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"get-resource": {
		parameters: {
			query: {
				group?: string;
				version?: string;
				kind: string;
				resourceNamespace?: string;
				resourceName: string;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["ResourceState"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"delete-resource": {
		parameters: {
			query: {
				group?: string;
				version?: string;
				kind: string;
				resourceNamespace?: string;
				resourceName: string;
				wait?: number;
				dryRun?: boolean;
				force?: boolean;
				orphan?: boolean;
				reason?: string;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"patch-resource": {
		parameters: {
			query?: {
				wait?: number;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["ResourcePatch"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"list-actions": {
		parameters: {
			query: {
				group?: string;
				version?: string;
				kind: string;
				resourceNamespace?: string;
				resourceName: string;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["ResourceActions"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"run-action": {
		parameters: {
			query?: {
				wait?: number;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["ResourceAction"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"resource-events": {
		parameters: {
			query: {
				group?: string;
				version?: string;
				kind: string;
				resourceNamespace?: string;
				resourceName: string;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["ResourceEvents"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"restore-objects": {
		parameters: {
			query?: {
				wait?: number;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["RestoreRequest"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"revert-drift": {
		parameters: {
			query?: {
				wait?: number;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["RevertRequest"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"revision-status": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["RevisionStatus"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"list-revisions": {
		parameters: {
			query: {
				revision: string[] | null;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["RevisionsAnswer"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"get-revision": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
				revision: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["RevisionInfo"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"rollback-application": {
		parameters: {
			query?: {
				wait?: number;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["RollbackRequest"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"sync-application": {
		parameters: {
			query?: {
				wait?: number;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["SyncRequest"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"application-terminal": {
		parameters: {
			query: {
				podNamespace: string;
				pod: string;
				container?: string;
				command?: string[] | null;
				tty?: boolean;
				columns?: number;
				rows?: number;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content?: never;
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"terminate-operation": {
		parameters: {
			query?: {
				wait?: number;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["TerminateRequest"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"application-tree": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["TreeAnswer"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"application-tree-events": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content?: never;
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"unpin-application": {
		parameters: {
			query?: {
				wait?: number;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["UnpinRequest"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"why-application": {
		parameters: {
			query?: {
				logs?: boolean;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Why"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"create-application-set": {
		parameters: {
			query?: {
				wait?: number;
				dryRun?: boolean;
			};
			header?: never;
			path: {
				agent: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["ObjectWrite"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"get-application-set": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Item"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"update-application-set": {
		parameters: {
			query?: {
				wait?: number;
				dryRun?: boolean;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["ObjectWrite"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"delete-application-set": {
		parameters: {
			query?: {
				wait?: number;
				dryRun?: boolean;
				cascade?: boolean;
				propagation?: "foreground" | "background";
				version?: string;
				force?: boolean;
				forget?: boolean;
				reason?: string;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"create-argo-project": {
		parameters: {
			query?: {
				wait?: number;
				dryRun?: boolean;
			};
			header?: never;
			path: {
				agent: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["ObjectWrite"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"get-argo-project": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Item"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"update-argo-project": {
		parameters: {
			query?: {
				wait?: number;
				dryRun?: boolean;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["ObjectWrite"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"delete-argo-project": {
		parameters: {
			query?: {
				wait?: number;
				dryRun?: boolean;
				cascade?: boolean;
				propagation?: "foreground" | "background";
				version?: string;
				force?: boolean;
				forget?: boolean;
				reason?: string;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"argo-project-links": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Links"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"create-certificate": {
		parameters: {
			query?: {
				wait?: number;
				dryRun?: boolean;
			};
			header?: never;
			path: {
				agent: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["SettingWrite"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"get-certificate": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Item"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"update-certificate": {
		parameters: {
			query?: {
				wait?: number;
				dryRun?: boolean;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["SettingWrite"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"delete-certificate": {
		parameters: {
			query?: {
				wait?: number;
				dryRun?: boolean;
				cascade?: boolean;
				propagation?: "foreground" | "background";
				version?: string;
				force?: boolean;
				forget?: boolean;
				reason?: string;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"create-cluster": {
		parameters: {
			query?: {
				wait?: number;
				dryRun?: boolean;
			};
			header?: never;
			path: {
				agent: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["SettingWrite"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"test-cluster": {
		parameters: {
			query?: {
				wait?: number;
				dryRun?: boolean;
			};
			header?: never;
			path: {
				agent: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["SettingWrite"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["SettingTest"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"get-cluster": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Item"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"update-cluster": {
		parameters: {
			query?: {
				wait?: number;
				dryRun?: boolean;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["SettingWrite"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"delete-cluster": {
		parameters: {
			query?: {
				wait?: number;
				dryRun?: boolean;
				cascade?: boolean;
				propagation?: "foreground" | "background";
				version?: string;
				force?: boolean;
				forget?: boolean;
				reason?: string;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"create-credential-template": {
		parameters: {
			query?: {
				wait?: number;
				dryRun?: boolean;
			};
			header?: never;
			path: {
				agent: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["SettingWrite"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"get-credential-template": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Item"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"update-credential-template": {
		parameters: {
			query?: {
				wait?: number;
				dryRun?: boolean;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["SettingWrite"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"delete-credential-template": {
		parameters: {
			query?: {
				wait?: number;
				dryRun?: boolean;
				cascade?: boolean;
				propagation?: "foreground" | "background";
				version?: string;
				force?: boolean;
				forget?: boolean;
				reason?: string;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"create-gnupg-key": {
		parameters: {
			query?: {
				wait?: number;
				dryRun?: boolean;
			};
			header?: never;
			path: {
				agent: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["SettingWrite"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"get-gnupg-key": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Item"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"update-gnupg-key": {
		parameters: {
			query?: {
				wait?: number;
				dryRun?: boolean;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["SettingWrite"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"delete-gnupg-key": {
		parameters: {
			query?: {
				wait?: number;
				dryRun?: boolean;
				cascade?: boolean;
				propagation?: "foreground" | "background";
				version?: string;
				force?: boolean;
				forget?: boolean;
				reason?: string;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"create-known-host": {
		parameters: {
			query?: {
				wait?: number;
				dryRun?: boolean;
			};
			header?: never;
			path: {
				agent: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["SettingWrite"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"update-known-host": {
		parameters: {
			query?: {
				wait?: number;
				dryRun?: boolean;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["SettingWrite"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"delete-known-host": {
		parameters: {
			query?: {
				wait?: number;
				dryRun?: boolean;
				cascade?: boolean;
				propagation?: "foreground" | "background";
				version?: string;
				force?: boolean;
				forget?: boolean;
				reason?: string;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"create-repository": {
		parameters: {
			query?: {
				wait?: number;
				dryRun?: boolean;
			};
			header?: never;
			path: {
				agent: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["SettingWrite"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"test-repository": {
		parameters: {
			query?: {
				wait?: number;
				dryRun?: boolean;
			};
			header?: never;
			path: {
				agent: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["SettingWrite"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["SettingTest"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"get-repository": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Item"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"update-repository": {
		parameters: {
			query?: {
				wait?: number;
				dryRun?: boolean;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["SettingWrite"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"delete-repository": {
		parameters: {
			query?: {
				wait?: number;
				dryRun?: boolean;
				cascade?: boolean;
				propagation?: "foreground" | "background";
				version?: string;
				force?: boolean;
				forget?: boolean;
				reason?: string;
			};
			header?: never;
			path: {
				agent: string;
				namespace: string;
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"repository-paths": {
		parameters: {
			query: {
				repoURL: string;
				argoProject?: string;
				namespace?: string;
				application?: string;
				revision?: string;
				path?: string;
				plugin?: string;
			};
			header?: never;
			path: {
				agent: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["RepositoryPaths"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"repository-refs": {
		parameters: {
			query: {
				repoURL: string;
				argoProject?: string;
				namespace?: string;
				application?: string;
				type?: "git" | "helm" | "oci";
				search?: string;
			};
			header?: never;
			path: {
				agent: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["RepositoryRefs"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"get-agent": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Agent"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"update-agent": {
		parameters: {
			query?: {
				dryRun?: boolean;
				upsert?: boolean;
			};
			header?: {
				"If-Match"?: string;
			};
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["Agent"];
			};
		};
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Agent"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"delete-agent": {
		parameters: {
			query?: {
				dryRun?: boolean;
				force?: boolean;
			};
			header?: {
				"If-Match"?: string;
			};
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			204: {
				headers: {
					[name: string]: unknown;
				};
				content?: never;
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"list-agent-commands": {
		parameters: {
			query?: {
				limit?: number;
				cursor?: string;
				page?: number;
				sort?: string;
				search?: string;
				scope?: string;
				label?: string[] | null;
			};
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageCommand"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"link-agent-applications": {
		parameters: {
			query?: {
				dryRun?: boolean;
			};
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["LinkPlan"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"agent-manifest": {
		parameters: {
			query?: {
				format?: "yaml" | "helm";
				namespace?: string;
				namespaced?: boolean;
				namespaces?: string[] | null;
				registry?: string;
				pullSecret?: string;
				proxy?: string;
				noProxy?: string;
				ca?: string;
				existingSecret?: string;
				skipCRDs?: boolean;
				clientCertSecret?: string;
				succession?: string;
				standby?: boolean;
				caConfigMap?: string;
			};
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					"Content-Type"?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": string;
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"write-agent-manifest": {
		parameters: {
			query?: {
				format?: "yaml" | "helm";
			};
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["InstallOptions"];
			};
		};
		responses: {
			200: {
				headers: {
					"Content-Type"?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": string;
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"list-mappings": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageMapping"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"set-mapping": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				id: string;
				argoProject: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["Mapping"];
			};
		};
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Mapping"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"delete-mapping": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				id: string;
				argoProject: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			204: {
				headers: {
					[name: string]: unknown;
				};
				content?: never;
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"register-agent": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["AgentRegistration"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"revoke-agent": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			204: {
				headers: {
					[name: string]: unknown;
				};
				content?: never;
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"rotate-agent": {
		parameters: {
			query?: {
				wait?: number;
			};
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"list-applications": {
		parameters: {
			query?: {
				limit?: number;
				cursor?: string;
				page?: number;
				sort?: string;
				search?: string;
				scope?: string;
				label?: string[] | null;
				agent?: string;
				argoProject?: string;
				stale?: boolean;
				namespace?: string;
				sync?: ("Synced" | "OutOfSync" | "Unknown")[] | null;
				health?: ("Healthy" | "Progressing" | "Degraded" | "Suspended" | "Missing" | "Unknown")[] | null;
				repoURL?: string;
				destination?: string;
				service?: string;
				environment?: string;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageApplication"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"bulk-refresh": {
		parameters: {
			query?: {
				wait?: number;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["BulkRefresh"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["BulkResult"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"bulk-sync": {
		parameters: {
			query?: {
				wait?: number;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["BulkSync"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["BulkResult"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"list-applicationsets": {
		parameters: {
			query?: {
				limit?: number;
				cursor?: string;
				page?: number;
				sort?: string;
				search?: string;
				scope?: string;
				label?: string[] | null;
				agent?: string;
				argoProject?: string;
				stale?: boolean;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageItem"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"list-argo-projects": {
		parameters: {
			query?: {
				limit?: number;
				cursor?: string;
				page?: number;
				sort?: string;
				search?: string;
				scope?: string;
				label?: string[] | null;
				agent?: string;
				argoProject?: string;
				stale?: boolean;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageItem"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"list-audit": {
		parameters: {
			query?: {
				limit?: number;
				cursor?: string;
				page?: number;
				sort?: string;
				search?: string;
				scope?: string;
				label?: string[] | null;
				actor?: string;
				action?: string;
				objectType?: string;
				objectId?: string;
				outcome?: "succeeded" | "failed" | "denied";
				requestId?: string;
				from?: string;
				to?: string;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageAuditEntry"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"export-audit": {
		parameters: {
			query?: {
				limit?: number;
				cursor?: string;
				page?: number;
				sort?: string;
				search?: string;
				scope?: string;
				label?: string[] | null;
				actor?: string;
				action?: string;
				objectType?: string;
				objectId?: string;
				outcome?: "succeeded" | "failed" | "denied";
				requestId?: string;
				from?: string;
				to?: string;
				format?: "jsonl" | "csv";
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content?: never;
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"verify-audit": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["AuditVerification"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"get-audit-entry": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				id: number;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["AuditEntry"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"list-bindings": {
		parameters: {
			query?: {
				limit?: number;
				cursor?: string;
				page?: number;
				sort?: string;
				search?: string;
				scope?: string;
				label?: string[] | null;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageBinding"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"create-binding": {
		parameters: {
			query?: {
				dryRun?: boolean;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["Binding"];
			};
		};
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Binding"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"get-binding": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Binding"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"update-binding": {
		parameters: {
			query?: {
				dryRun?: boolean;
				upsert?: boolean;
			};
			header?: {
				"If-Match"?: string;
			};
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["Binding"];
			};
		};
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Binding"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"delete-binding": {
		parameters: {
			query?: {
				dryRun?: boolean;
				force?: boolean;
			};
			header?: {
				"If-Match"?: string;
			};
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			204: {
				headers: {
					[name: string]: unknown;
				};
				content?: never;
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"list-certificates": {
		parameters: {
			query?: {
				limit?: number;
				cursor?: string;
				page?: number;
				sort?: string;
				search?: string;
				scope?: string;
				label?: string[] | null;
				agent?: string;
				argoProject?: string;
				stale?: boolean;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageItem"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"list-clusters": {
		parameters: {
			query?: {
				limit?: number;
				cursor?: string;
				page?: number;
				sort?: string;
				search?: string;
				scope?: string;
				label?: string[] | null;
				agent?: string;
				argoProject?: string;
				stale?: boolean;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageItem"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"get-command": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Command"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"list-credential-templates": {
		parameters: {
			query?: {
				limit?: number;
				cursor?: string;
				page?: number;
				sort?: string;
				search?: string;
				scope?: string;
				label?: string[] | null;
				agent?: string;
				argoProject?: string;
				stale?: boolean;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageItem"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"list-environments": {
		parameters: {
			query?: {
				limit?: number;
				cursor?: string;
				page?: number;
				sort?: string;
				search?: string;
				scope?: string;
				label?: string[] | null;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageEnvironment"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"create-environment": {
		parameters: {
			query?: {
				dryRun?: boolean;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["Environment"];
			};
		};
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Environment"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"get-environment": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Environment"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"update-environment": {
		parameters: {
			query?: {
				dryRun?: boolean;
				upsert?: boolean;
			};
			header?: {
				"If-Match"?: string;
			};
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["Environment"];
			};
		};
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Environment"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"delete-environment": {
		parameters: {
			query?: {
				dryRun?: boolean;
				force?: boolean;
			};
			header?: {
				"If-Match"?: string;
			};
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			204: {
				headers: {
					[name: string]: unknown;
				};
				content?: never;
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	events: {
		parameters: {
			query?: {
				after?: string;
				type?: string[] | null;
			};
			header?: {
				"Last-Event-ID"?: string;
			};
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content?: never;
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"fleet-applications": {
		parameters: {
			query?: {
				view?: string;
				search?: string;
				scope?: string;
				label?: string[] | null;
				agent?: string;
				argoProject?: string;
				namespace?: string;
				sync?: ("Synced" | "OutOfSync" | "Unknown")[] | null;
				health?: ("Healthy" | "Progressing" | "Degraded" | "Suspended" | "Missing" | "Unknown")[] | null;
				phase?: ("Running" | "Terminating" | "Succeeded" | "Failed" | "Error")[] | null;
				repoURL?: string;
				cluster?: string;
				service?: string;
				environment?: string;
				region?: string;
				type?: "Production" | "PreProduction";
				version?: string;
				held?: boolean;
				stale?: boolean;
				attention?: ("SourceError" | "Degraded" | "SyncFailed" | "Held" | "OutOfSync" | "NeverDeployed")[] | null;
				driftOlder?: string;
				since?: string;
				limit?: number;
				cursor?: string;
				page?: number;
				sort?: string;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageApplication"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"fleet-attention": {
		parameters: {
			query?: {
				scope?: string;
				agent?: string;
				kind?: ("SourceError" | "Degraded" | "SyncFailed" | "Held" | "AgentAway" | "AgentDegraded" | "OutOfSync" | "NeverDeployed")[] | null;
				limit?: number;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Attention"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"fleet-dora": {
		parameters: {
			query?: {
				from?: string;
				to?: string;
				scope?: string;
				agent?: string;
				namespace?: string;
				name?: string;
				argoProject?: string;
				service?: string;
				environment?: string;
				group?: "application" | "service" | "environment" | "project" | "scope";
				by?: "day" | "week";
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["DORAReport"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"fleet-matrix": {
		parameters: {
			query: {
				view?: string;
				search?: string;
				scope?: string;
				label?: string[] | null;
				agent?: string;
				argoProject?: string;
				namespace?: string;
				sync?: ("Synced" | "OutOfSync" | "Unknown")[] | null;
				health?: ("Healthy" | "Progressing" | "Degraded" | "Suspended" | "Missing" | "Unknown")[] | null;
				phase?: ("Running" | "Terminating" | "Succeeded" | "Failed" | "Error")[] | null;
				repoURL?: string;
				cluster?: string;
				service?: string;
				environment?: string;
				region?: string;
				type?: "Production" | "PreProduction";
				version?: string;
				held?: boolean;
				stale?: boolean;
				attention?: ("SourceError" | "Degraded" | "SyncFailed" | "Held" | "OutOfSync" | "NeverDeployed")[] | null;
				driftOlder?: string;
				since?: string;
				by: "agent" | "cluster" | "environment" | "region" | "service" | "argoProject" | "scope";
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["FleetMatrix"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"fleet-service-levels": {
		parameters: {
			query?: {
				from?: string;
				to?: string;
				scope?: string;
				agent?: string;
				namespace?: string;
				name?: string;
				argoProject?: string;
				service?: string;
				environment?: string;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["ServiceLevels"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"fleet-services": {
		parameters: {
			query?: {
				limit?: number;
				cursor?: string;
				page?: number;
				sort?: string;
				search?: string;
				scope?: string;
				label?: string[] | null;
				service?: string;
				environment?: string;
				type?: "Production" | "PreProduction";
				region?: string;
				agent?: string;
				drift?: boolean;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageServiceRow"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"fleet-summary": {
		parameters: {
			query?: {
				view?: string;
				search?: string;
				scope?: string;
				label?: string[] | null;
				agent?: string;
				argoProject?: string;
				namespace?: string;
				sync?: ("Synced" | "OutOfSync" | "Unknown")[] | null;
				health?: ("Healthy" | "Progressing" | "Degraded" | "Suspended" | "Missing" | "Unknown")[] | null;
				phase?: ("Running" | "Terminating" | "Succeeded" | "Failed" | "Error")[] | null;
				repoURL?: string;
				cluster?: string;
				service?: string;
				environment?: string;
				region?: string;
				type?: "Production" | "PreProduction";
				version?: string;
				held?: boolean;
				stale?: boolean;
				attention?: ("SourceError" | "Degraded" | "SyncFailed" | "Held" | "OutOfSync" | "NeverDeployed")[] | null;
				driftOlder?: string;
				since?: string;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["FleetSummary"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"list-views": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Views"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"get-view": {
		parameters: {
			query?: {
				everyone?: boolean;
			};
			header?: never;
			path: {
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["View"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"save-view": {
		parameters: {
			query?: {
				everyone?: boolean;
				dryRun?: boolean;
			};
			header?: never;
			path: {
				name: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["View"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["View"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"delete-view": {
		parameters: {
			query?: {
				everyone?: boolean;
				dryRun?: boolean;
			};
			header?: never;
			path: {
				name: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			204: {
				headers: {
					[name: string]: unknown;
				};
				content?: never;
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"list-gpg-keys": {
		parameters: {
			query?: {
				limit?: number;
				cursor?: string;
				page?: number;
				sort?: string;
				search?: string;
				scope?: string;
				label?: string[] | null;
				agent?: string;
				argoProject?: string;
				stale?: boolean;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageItem"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"list-groups": {
		parameters: {
			query?: {
				limit?: number;
				cursor?: string;
				page?: number;
				sort?: string;
				search?: string;
				scope?: string;
				label?: string[] | null;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageGroup"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"create-group": {
		parameters: {
			query?: {
				dryRun?: boolean;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["Group"];
			};
		};
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Group"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"get-group": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Group"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"update-group": {
		parameters: {
			query?: {
				dryRun?: boolean;
				upsert?: boolean;
			};
			header?: {
				"If-Match"?: string;
			};
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["Group"];
			};
		};
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Group"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"delete-group": {
		parameters: {
			query?: {
				dryRun?: boolean;
				force?: boolean;
			};
			header?: {
				"If-Match"?: string;
			};
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			204: {
				headers: {
					[name: string]: unknown;
				};
				content?: never;
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"server-info": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["ServerInfo"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"list-instances": {
		parameters: {
			query?: {
				limit?: number;
				cursor?: string;
				page?: number;
				sort?: string;
				search?: string;
				scope?: string;
				label?: string[] | null;
				agent?: string;
				argoProject?: string;
				stale?: boolean;
				service?: string;
				environment?: string;
				application?: string;
				unready?: boolean;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageInstances"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"list-jobs": {
		parameters: {
			query?: {
				limit?: number;
				cursor?: string;
				page?: number;
				sort?: string;
				search?: string;
				state?: "running" | "done" | "stopped";
				mine?: boolean;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageJob"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"create-job": {
		parameters: {
			query?: {
				dryRun?: boolean;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["JobRequest"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["JobPlan"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"get-job": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Job"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"stop-job": {
		parameters: {
			query?: {
				dryRun?: boolean;
			};
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Job"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"list-job-targets": {
		parameters: {
			query?: {
				limit?: number;
				cursor?: string;
				sort?: string;
				state?: "waiting" | "running" | "done" | "failed" | "refused" | "skipped";
				search?: string;
			};
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageJobTarget"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"list-ledger": {
		parameters: {
			query?: {
				limit?: number;
				cursor?: string;
				page?: number;
				sort?: string;
				search?: string;
				scope?: string;
				label?: string[] | null;
				agent?: string;
				namespace?: string;
				name?: string;
				argoProject?: string;
				service?: string;
				environment?: string;
				destination?: string;
				phase?: "Succeeded" | "Failed" | "Error";
				action?: "sync" | "rollback" | "restore" | "dry-run" | "partial" | "delete";
				actor?: string;
				command?: string;
				revision?: string;
				automatic?: "true" | "false";
				changed?: boolean;
				from?: string;
				to?: string;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageLedgerEntry"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"ledger-at": {
		parameters: {
			query?: {
				limit?: number;
				cursor?: string;
				page?: number;
				sort?: string;
				search?: string;
				scope?: string;
				label?: string[] | null;
				agent?: string;
				namespace?: string;
				name?: string;
				argoProject?: string;
				service?: string;
				environment?: string;
				destination?: string;
				at?: string;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageLedgerState"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"ledger-diff": {
		parameters: {
			query?: {
				search?: string;
				scope?: string;
				label?: string[] | null;
				agent?: string;
				namespace?: string;
				name?: string;
				argoProject?: string;
				service?: string;
				environment?: string;
				destination?: string;
				limit?: number;
				cursor?: string;
				from?: string;
				to?: string;
				manifests?: boolean;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["LedgerDiff"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"export-ledger": {
		parameters: {
			query?: {
				search?: string;
				scope?: string;
				label?: string[] | null;
				agent?: string;
				namespace?: string;
				name?: string;
				argoProject?: string;
				service?: string;
				environment?: string;
				destination?: string;
				phase?: "Succeeded" | "Failed" | "Error";
				action?: "sync" | "rollback" | "restore" | "dry-run" | "partial" | "delete";
				actor?: string;
				command?: string;
				revision?: string;
				automatic?: "true" | "false";
				changed?: boolean;
				from?: string;
				to?: string;
				format?: "jsonl" | "tar";
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content?: never;
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"ledger-object": {
		parameters: {
			query: {
				limit?: number;
				cursor?: string;
				page?: number;
				sort?: string;
				search?: string;
				scope?: string;
				label?: string[] | null;
				agent?: string;
				namespace?: string;
				name?: string;
				argoProject?: string;
				service?: string;
				environment?: string;
				destination?: string;
				phase?: "Succeeded" | "Failed" | "Error";
				action?: "sync" | "rollback" | "restore" | "dry-run" | "partial" | "delete";
				actor?: string;
				command?: string;
				revision?: string;
				automatic?: "true" | "false";
				changed?: boolean;
				from?: string;
				to?: string;
				kind: string;
				objectName: string;
				objectNamespace?: string;
				group?: string;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageLedgerObjectChange"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"get-ledger": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["LedgerDetail"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"compare-ledger": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				id: string;
				other: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["LedgerComparison"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"get-ledger-manifests": {
		parameters: {
			query?: {
				kind?: string;
				objectName?: string;
				objectNamespace?: string;
			};
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["LedgerManifests"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"list-notification-channels": {
		parameters: {
			query?: {
				limit?: number;
				cursor?: string;
				page?: number;
				sort?: string;
				search?: string;
				scope?: string;
				label?: string[] | null;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageNotificationChannel"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"create-notification-channel": {
		parameters: {
			query?: {
				dryRun?: boolean;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["NotificationChannel"];
			};
		};
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["NotificationChannel"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"get-notification-channel": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["NotificationChannel"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"update-notification-channel": {
		parameters: {
			query?: {
				dryRun?: boolean;
				upsert?: boolean;
			};
			header?: {
				"If-Match"?: string;
			};
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["NotificationChannel"];
			};
		};
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["NotificationChannel"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"delete-notification-channel": {
		parameters: {
			query?: {
				dryRun?: boolean;
				force?: boolean;
			};
			header?: {
				"If-Match"?: string;
			};
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			204: {
				headers: {
					[name: string]: unknown;
				};
				content?: never;
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"test-notification-channel": {
		parameters: {
			query?: {
				dryRun?: boolean;
			};
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["NotificationResult"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"list-notification-deliveries": {
		parameters: {
			query?: {
				limit?: number;
				cursor?: string;
				page?: number;
				sort?: string;
				search?: string;
				scope?: string;
				label?: string[] | null;
				rule?: string;
				channel?: string;
				state?: "Waiting" | "Sent" | "Dead" | "Quiet";
				event?: string;
				object?: string;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageNotificationDelivery"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"get-notification-delivery": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["NotificationDelivery"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"resend-notification-delivery": {
		parameters: {
			query?: {
				dryRun?: boolean;
			};
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["NotificationDelivery"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"list-notification-rules": {
		parameters: {
			query?: {
				limit?: number;
				cursor?: string;
				page?: number;
				sort?: string;
				search?: string;
				scope?: string;
				label?: string[] | null;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageNotificationRule"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"create-notification-rule": {
		parameters: {
			query?: {
				dryRun?: boolean;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["NotificationRule"];
			};
		};
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["NotificationRule"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"preview-notification-rule": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["NotificationRule"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["NotificationText"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"get-notification-rule": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["NotificationRule"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"update-notification-rule": {
		parameters: {
			query?: {
				dryRun?: boolean;
				upsert?: boolean;
			};
			header?: {
				"If-Match"?: string;
			};
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["NotificationRule"];
			};
		};
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["NotificationRule"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"delete-notification-rule": {
		parameters: {
			query?: {
				dryRun?: boolean;
				force?: boolean;
			};
			header?: {
				"If-Match"?: string;
			};
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			204: {
				headers: {
					[name: string]: unknown;
				};
				content?: never;
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"list-organizations": {
		parameters: {
			query?: {
				limit?: number;
				cursor?: string;
				page?: number;
				sort?: string;
				search?: string;
				scope?: string;
				label?: string[] | null;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageOrganization"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"create-organization": {
		parameters: {
			query?: {
				dryRun?: boolean;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["Organization"];
			};
		};
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Organization"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"get-organization": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Organization"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"update-organization": {
		parameters: {
			query?: {
				dryRun?: boolean;
				upsert?: boolean;
			};
			header?: {
				"If-Match"?: string;
			};
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["Organization"];
			};
		};
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Organization"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"delete-organization": {
		parameters: {
			query?: {
				dryRun?: boolean;
				force?: boolean;
			};
			header?: {
				"If-Match"?: string;
			};
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			204: {
				headers: {
					[name: string]: unknown;
				};
				content?: never;
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	overview: {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Overview"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"list-projects": {
		parameters: {
			query?: {
				limit?: number;
				cursor?: string;
				page?: number;
				sort?: string;
				search?: string;
				scope?: string;
				label?: string[] | null;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageProject"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"create-project": {
		parameters: {
			query?: {
				dryRun?: boolean;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["Project"];
			};
		};
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Project"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"get-project": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Project"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"update-project": {
		parameters: {
			query?: {
				dryRun?: boolean;
				upsert?: boolean;
			};
			header?: {
				"If-Match"?: string;
			};
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["Project"];
			};
		};
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Project"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"delete-project": {
		parameters: {
			query?: {
				dryRun?: boolean;
				force?: boolean;
			};
			header?: {
				"If-Match"?: string;
			};
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			204: {
				headers: {
					[name: string]: unknown;
				};
				content?: never;
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"list-repositories": {
		parameters: {
			query?: {
				limit?: number;
				cursor?: string;
				page?: number;
				sort?: string;
				search?: string;
				scope?: string;
				label?: string[] | null;
				agent?: string;
				argoProject?: string;
				stale?: boolean;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageItem"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"list-resource-groups": {
		parameters: {
			query?: {
				limit?: number;
				cursor?: string;
				page?: number;
				sort?: string;
				search?: string;
				scope?: string;
				label?: string[] | null;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageResourceGroup"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"create-resource-group": {
		parameters: {
			query?: {
				dryRun?: boolean;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["ResourceGroup"];
			};
		};
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["ResourceGroup"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"get-resource-group": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["ResourceGroup"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"update-resource-group": {
		parameters: {
			query?: {
				dryRun?: boolean;
				upsert?: boolean;
			};
			header?: {
				"If-Match"?: string;
			};
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["ResourceGroup"];
			};
		};
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["ResourceGroup"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"delete-resource-group": {
		parameters: {
			query?: {
				dryRun?: boolean;
				force?: boolean;
			};
			header?: {
				"If-Match"?: string;
			};
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			204: {
				headers: {
					[name: string]: unknown;
				};
				content?: never;
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"list-roles": {
		parameters: {
			query?: {
				limit?: number;
				cursor?: string;
				page?: number;
				sort?: string;
				search?: string;
				scope?: string;
				label?: string[] | null;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageRole"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"create-role": {
		parameters: {
			query?: {
				dryRun?: boolean;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["Role"];
			};
		};
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Role"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"get-role": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Role"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"update-role": {
		parameters: {
			query?: {
				dryRun?: boolean;
				upsert?: boolean;
			};
			header?: {
				"If-Match"?: string;
			};
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["Role"];
			};
		};
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Role"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"delete-role": {
		parameters: {
			query?: {
				dryRun?: boolean;
				force?: boolean;
			};
			header?: {
				"If-Match"?: string;
			};
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			204: {
				headers: {
					[name: string]: unknown;
				};
				content?: never;
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"list-service-accounts": {
		parameters: {
			query?: {
				limit?: number;
				cursor?: string;
				page?: number;
				sort?: string;
				search?: string;
				scope?: string;
				label?: string[] | null;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageServiceAccount"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"create-service-account": {
		parameters: {
			query?: {
				dryRun?: boolean;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["ServiceAccount"];
			};
		};
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["ServiceAccount"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"get-service-account": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["ServiceAccount"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"update-service-account": {
		parameters: {
			query?: {
				dryRun?: boolean;
				upsert?: boolean;
			};
			header?: {
				"If-Match"?: string;
			};
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["ServiceAccount"];
			};
		};
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["ServiceAccount"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"delete-service-account": {
		parameters: {
			query?: {
				dryRun?: boolean;
				force?: boolean;
			};
			header?: {
				"If-Match"?: string;
			};
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			204: {
				headers: {
					[name: string]: unknown;
				};
				content?: never;
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"list-services": {
		parameters: {
			query?: {
				limit?: number;
				cursor?: string;
				page?: number;
				sort?: string;
				search?: string;
				scope?: string;
				label?: string[] | null;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageService"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"create-service": {
		parameters: {
			query?: {
				dryRun?: boolean;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["Service"];
			};
		};
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Service"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"get-service": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Service"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"update-service": {
		parameters: {
			query?: {
				dryRun?: boolean;
				upsert?: boolean;
			};
			header?: {
				"If-Match"?: string;
			};
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["Service"];
			};
		};
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Service"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"delete-service": {
		parameters: {
			query?: {
				dryRun?: boolean;
				force?: boolean;
			};
			header?: {
				"If-Match"?: string;
			};
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			204: {
				headers: {
					[name: string]: unknown;
				};
				content?: never;
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	whoami: {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Whoami"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"sign-in": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["SignIn"];
			};
		};
		responses: {
			200: {
				headers: {
					"Set-Cookie"?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Session"];
				};
			};
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"sign-out": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			204: {
				headers: {
					"Set-Cookie"?: string;
					[name: string]: unknown;
				};
				content?: never;
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"sign-in-methods": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["SignInMethods"];
				};
			};
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"begin-oidc": {
		parameters: {
			query?: {
				returnTo?: string;
				provider?: string;
				cli_redirect?: string;
				cli_challenge?: string;
				cli_state?: string;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			204: {
				headers: {
					Location?: string;
					"Set-Cookie"?: string;
					[name: string]: unknown;
				};
				content?: never;
			};
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"finish-oidc": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			204: {
				headers: {
					Location?: string;
					"Set-Cookie"?: string;
					[name: string]: unknown;
				};
				content?: never;
			};
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"exchange-oidc": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["CodeExchange"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Session"];
				};
			};
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"change-password": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["PasswordChange"];
			};
		};
		responses: {
			204: {
				headers: {
					[name: string]: unknown;
				};
				content?: never;
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"get-settings": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Settings"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"update-settings": {
		parameters: {
			query?: {
				dryRun?: boolean;
			};
			header?: {
				"If-Match"?: string;
			};
			path?: never;
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["Settings"];
			};
		};
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Settings"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"list-tokens": {
		parameters: {
			query?: {
				limit?: number;
				cursor?: string;
				page?: number;
				sort?: string;
				search?: string;
				scope?: string;
				label?: string[] | null;
				owner?: string;
				ownerType?: "user" | "serviceaccount";
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageToken"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"create-token": {
		parameters: {
			query?: {
				dryRun?: boolean;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["Token"];
			};
		};
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["TokenCreated"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"get-token": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["Token"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"delete-token": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			204: {
				headers: {
					[name: string]: unknown;
				};
				content?: never;
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"list-users": {
		parameters: {
			query?: {
				limit?: number;
				cursor?: string;
				page?: number;
				sort?: string;
				search?: string;
				scope?: string;
				label?: string[] | null;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PageUser"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"create-user": {
		parameters: {
			query?: {
				dryRun?: boolean;
			};
			header?: never;
			path?: never;
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["UserCreate"];
			};
		};
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["UserCreated"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"get-user": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["User"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"update-user": {
		parameters: {
			query?: {
				dryRun?: boolean;
				upsert?: boolean;
			};
			header?: {
				"If-Match"?: string;
			};
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody: {
			content: {
				"application/json": components["schemas"]["User"];
			};
		};
		responses: {
			200: {
				headers: {
					ETag?: string;
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["User"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"delete-user": {
		parameters: {
			query?: {
				dryRun?: boolean;
				force?: boolean;
			};
			header?: {
				"If-Match"?: string;
			};
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			204: {
				headers: {
					[name: string]: unknown;
				};
				content?: never;
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
	"reset-password": {
		parameters: {
			query?: never;
			header?: never;
			path: {
				id: string;
			};
			cookie?: never;
		};
		requestBody?: never;
		responses: {
			200: {
				headers: {
					[name: string]: unknown;
				};
				content: {
					"application/json": components["schemas"]["PasswordReset"];
				};
			};
			401: components["responses"]["problem"];
			403: components["responses"]["problem"];
			404: components["responses"]["problem"];
			409: components["responses"]["problem"];
			413: components["responses"]["problem"];
			422: components["responses"]["problem"];
			429: components["responses"]["problem"];
			500: components["responses"]["problem"];
		};
	};
}
