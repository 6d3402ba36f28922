package compat;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import redis.clients.jedis.HostAndPort;

/** Connections of Spring Data Redis, on Lettuce. */
final class SpringConnections {
    private SpringConnections() {
    }

    static LettuceConnectionFactory open(String address) {
        HostAndPort at = HostAndPort.from(address);
        var factory = new LettuceConnectionFactory(new RedisStandaloneConfiguration(at.getHost(), at.getPort()));
        factory.afterPropertiesSet();
        factory.start();
        return factory;
    }

    static String version() {
        return "Spring Data Redis " + Versions.of(LettuceConnectionFactory.class) + " and Lettuce " + LettuceStore.driver();
    }
}
